"""A stored run, arranged: which samples count, series, pairs, noise floors, comparisons.

Checks, rows, sections and figures start from ``Evidence``; everything in it is computed once.
"""

from heapwise.evidence.evidence import YARDSTICK, Evidence
from heapwise.evidence.kept import measured, planted, recorded, timed
from heapwise.evidence.series import Cell, Series, Table, pair, parameters_key, ratio_of

__all__ = [
    "YARDSTICK", "Cell", "Evidence", "Series", "Table", "measured", "pair", "parameters_key",
    "planted", "ratio_of", "recorded", "timed",
]
