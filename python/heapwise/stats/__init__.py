"""Numbers in, numbers out: numpy and scipy only. docs/methods.md tells each one in prose."""
