"""The metric of a limit, as the command line has it."""

from __future__ import annotations

from heapwise.errors import Problem
from heapwise.wording.metrics import METRICS, OF_GATE, find_metric
from heapwise.wording.suggest import did_you_mean


def demand_metric(word: str, typed: str) -> str:
    """The name of a metric that a gate may limit. word: the whole limit. Problem E003 for another
    one."""
    known = find_metric(typed)
    if known is None or not known.of_gate:
        names = [name for m in METRICS if m.of_gate for name in (m.name, m.alias) if name]
        raise Problem(
            "E003",
            f"--limit {word}: there is no metric '{typed}'{did_you_mean(typed, names)}",
            do=f"name one of: {', '.join(OF_GATE)}",
        )
    return known.name
