"""Numbers in, numbers out: numpy and scipy only. docs/methods.md tells each one in prose.

scipy is imported by the functions that call it: all of scipy.stats takes most of a second.
"""
