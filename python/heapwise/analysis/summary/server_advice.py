"""The advice of a comparison of servers: they differ in several quantities, and none is all."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Row, Settings
from heapwise.wording.lists import listed
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.ratios import relation

QUANTITIES = ("throughput", SIDE_BY_SIDE, "latency_p99", "after_idle")
"""What a user of servers asks for. Memory counts under the first load: others have it, too."""

NAMED = 3
"""Subjects that a sentence names of those that are better, and of those that are worse."""


def is_of_servers(evidence: Evidence) -> bool:
    """Whether what it compares has requests."""
    return any(
        quantity.unit == "requests/s"
        for experiment in evidence.stored.run.experiments
        for quantity in experiment.quantities
    )


def server_advice(rows: Sequence[Row]) -> str:
    """A sentence for each quantity that tells something, and one for those that do not.

    rows: of all subjects that may be ranked. "" if nothing was compared.
    """
    told, open_ = [], []
    base = next((row.subject for row in rows if row.baseline), "the baseline")
    for quantity in QUANTITIES:
        for load, mine in _by_load(rows, quantity).items():
            name = quantity_name(quantity)
            if "load" in load and quantity.startswith("latency"):
                name += f" at {cell_words(load)}"
            words = _differences(mine)
            if words:
                told.append(f"{name}: {words}.")
            elif any(row.verdict == "cannot tell" for row in mine):
                open_.append(name)
            elif mine:
                told.append(f"{name}: no difference.")
    if not told:
        return "Cannot tell yet which is best." if open_ else ""
    unsure = f" Cannot tell yet: {', '.join(open_)}." if open_ else ""
    first, *more = told
    others = "".join(f" {words[0].upper()}{words[1:]}" for words in more)
    return f"Against {base}, {first}{others}{unsure}"


def _by_load(rows: Sequence[Row], quantity: str) -> dict[Settings, list[Row]]:
    """The rows of the quantity that were compared with the baseline; of memory those of the first
    load alone."""
    found: dict[Settings, list[Row]] = {}
    for row in rows:
        if row.quantity == quantity and not row.baseline and row.n:
            found.setdefault(row.parameters, []).append(row)
    if quantity == "after_idle":
        return dict(list(found.items())[:1])
    return found


def _differences(rows: Sequence[Row]) -> str:
    """The largest gain first, then the largest loss."""
    by_size = sorted(rows, key=lambda row: abs((row.ratio or 1.0) - 1), reverse=True)
    parts = [
        listed([f"{row.subject} {relation(row)}" for row in by_size if row.verdict == kind], NAMED)
        for kind in ("better", "worse")
        if any(row.verdict == kind for row in rows)
    ]
    return "; ".join(parts)
