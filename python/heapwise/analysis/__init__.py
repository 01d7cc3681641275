"""``Evidence`` in, a ``Result`` out: rows, trust, headlines, one sentence of advice."""

from heapwise.analysis.analyse import analyse
from heapwise.analysis.as_json import to_json
from heapwise.analysis.detectable import detectable_line
from heapwise.analysis.expectations import expected_line
from heapwise.analysis.findings import headline
from heapwise.analysis.pool_advice import NOTHING_COULD

__all__ = [
    "NOTHING_COULD",
    "analyse",
    "detectable_line",
    "expected_line",
    "headline",
    "to_json",
]
