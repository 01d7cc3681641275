"""How numbers, names and durations are worded: each rule once, for all sentences."""
