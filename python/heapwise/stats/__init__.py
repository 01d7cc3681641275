"""Numbers in, numbers out: numpy and scipy only. docs/methods.md tells each one in prose.

scipy.special is imported by the functions that call it. scipy.stats is not: loading it takes most
of a second.
"""
