"""A stored run, arranged: which samples count, series, pairs, noise floors, comparisons.

Checks, rows, sections and figures start from ``Evidence``, which has the samples and the names.
What follows from it is computed once: ``comparisons_of(evidence)`` has ratios and noise floors,
``calls_of`` the counted calls of malloc, ``ranking_of`` which subjects are ranked.
"""

from heapwise.evidence.calls import MallocCalls, calls_of
from heapwise.evidence.comparisons import Comparisons, comparisons_of
from heapwise.evidence.evidence import Evidence
from heapwise.evidence.kept import measured, planted, timed
from heapwise.evidence.ranking import YARDSTICK, Ranking, ranking_of
from heapwise.evidence.series import Series, Side, Table

__all__ = [
    "YARDSTICK",
    "Comparisons",
    "Evidence",
    "MallocCalls",
    "Ranking",
    "Series",
    "Side",
    "Table",
    "calls_of",
    "comparisons_of",
    "measured",
    "planted",
    "ranking_of",
    "timed",
]
