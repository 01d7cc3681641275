"""One package for each kind of study: how it is asked for, and how its result is told."""
