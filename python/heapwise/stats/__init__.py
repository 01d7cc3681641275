"""Numbers in, numbers out: numpy and scipy only. docs/methods.md tells each one in prose.

``special`` has what is needed of scipy.special, and is imported by the functions that call it.
Nothing here loads scipy.special or scipy.stats as a whole: that takes 0.2 s, or most of a second.
"""
