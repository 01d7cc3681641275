"""A stored run, arranged: which samples count, series, pairs, noise floors, comparisons.

Checks, rows, sections and figures start from ``Evidence``; everything in it is computed once.
"""

from heapwise.evidence.evidence import YARDSTICK, Evidence
from heapwise.evidence.kept import measured, planted, timed
from heapwise.evidence.series import Cell, Series, Side, Table, parameters_key

__all__ = [
    "YARDSTICK", "Cell", "Evidence", "Series", "Side", "Table", "measured", "parameters_key",
    "planted", "timed",
]
