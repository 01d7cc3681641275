"""A stored run, arranged: which samples count, series, pairs, noise floors, comparisons.

Checks, rows, sections and figures start from ``Evidence``; everything in it is computed once.
"""

from heapwise.evidence.evidence import YARDSTICK, Evidence
from heapwise.evidence.kept import measured, planted, timed
from heapwise.evidence.series import Series, Side, Table

__all__ = [
    "YARDSTICK",
    "Evidence",
    "Series",
    "Side",
    "Table",
    "measured",
    "planted",
    "timed",
]
