"""One file per kind of figure: rows in, SVG text out. Colours are the page's CSS variables."""
