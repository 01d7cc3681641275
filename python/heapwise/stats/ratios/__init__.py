"""Two things beside each other: ratios, their noise, and ratios over many runs."""
