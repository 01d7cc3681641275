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


def parse_limits(words: list[str]) -> dict[str, float]:
    """Metric -> share. Problem E003 for an unknown metric, and for a limit that no gate can
    keep."""
    found: dict[str, float] = {}
    for word in words:
        typed, _, amount = word.partition("=")
        metric = demand_metric(word, typed)
        found[metric] = _share(word, amount)
        if found[metric] == 0 and metric in ("time", "cpu_time"):
            raise Problem(
                "E003",
                f"--limit {word}: two times are never equal",
                why="A limit below the noise of the machine cannot be decided.",
                do=f"--limit {metric}=3%",
            )
    if not found:
        raise Problem(
            "E003",
            "gate needs at least one --limit",
            do="heapwise gate --base ./old --new ./new --limit time=3%",
        )
    return found


def _share(word: str, amount: str) -> float:
    number = amount.removesuffix("%").strip()
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share < 100 or (share and not amount.endswith("%")):
        raise Problem(
            "E003",
            f"--limit {word}: write 0 or a percentage, as in 3%",
            do="heapwise gate --limit time=3% --limit allocations=0 ...",
        )
    return share
