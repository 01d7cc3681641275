"""``Evidence`` in, a ``Result`` out: rows, trust, headlines, one sentence of advice."""

from heapwise.analysis.analyse import analyse
from heapwise.analysis.as_json import to_json
from heapwise.analysis.summary.detectable import detectable_line
from heapwise.analysis.summary.findings import headline
from heapwise.analysis.summary.pool_advice import NOTHING_COULD
from heapwise.analysis.verdicts.expectations import expected_line

__all__ = [
    "NOTHING_COULD",
    "analyse",
    "detectable_line",
    "expected_line",
    "headline",
    "to_json",
]
