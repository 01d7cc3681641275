"""Which allocator suits each program of a report: sentences that come from the run alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heapwise.model import PROGRAM, Row, SubjectName, short_name
from heapwise.wording.numbers import percent

TIME, MEMORY = "cpu", ("peak_resident", "after_idle")
NAMES = {
    "cpu": "processor time",
    "peak_resident": "peak memory",
    "after_idle": "memory after idleness",
}
KNOWN = ("better", "worse")
JUDGED = (*KNOWN, "no difference")


def programs_of(rows: Sequence[Row], experiment: str) -> dict[str, list[Row]]:
    """The rows of each program that has a figure, in the order of the run. The second copy of the
    baseline, which shows the noise, has none."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        is_control = SubjectName.parse(row.subject).control
        if row.experiment == experiment and PROGRAM in row.parameters and not is_control:
            found.setdefault(str(row.parameters[PROGRAM]), []).append(row)
    return {name: each for name, each in found.items() if any(row.median for row in each)}


def advice(rows: Sequence[Row]) -> str:
    """For one program: the allocator to take for time and for memory."""
    parts = []
    if faster := _best(rows, TIME):
        parts.append(
            f"For time take {short_name(faster.subject)}: {percent(_less(faster))} less than glibc."
        )
    for quantity in MEMORY:
        if smaller := _best(rows, quantity):
            parts.append(
                f"For {NAMES[quantity]} take {short_name(smaller.subject)}: "
                f"{percent(_less(smaller))} less than glibc."
            )
    if parts:
        return " ".join(parts)
    if any(row.verdict in JUDGED for row in rows):
        return "Stay with glibc: no allocator was shown to be better."
    return "This run cannot tell which allocator to take; the figures are below."


def advice_by_allocator(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """For one program: each allocator beside the baseline, and a sentence."""
    for subject in dict.fromkeys(row.subject for row in rows if row.ratio is not None):
        yield short_name(subject), _sentence([row for row in rows if row.subject == subject])


def _sentence(rows: Sequence[Row]) -> str:
    judged = {row.quantity: row for row in rows if row.quantity in NAMES and row.verdict in JUDGED}
    if not judged:
        return "This run cannot tell."
    known = [judged[name] for name in NAMES if name in judged and judged[name].verdict in KNOWN]
    if not known:
        return "No difference from glibc was shown."
    verdicts = {row.verdict for row in known}
    closing = {
        ("better",): "Take it.",
        ("worse",): "Do not take it.",
        ("better", "worse"): "It is a trade.",
    }
    changes = ", ".join(f"{_change(row)} {NAMES[row.quantity]}" for row in known)
    return f"{changes[0].upper()}{changes[1:]} than glibc. {closing[tuple(sorted(verdicts))]}"


def _change(row: Row) -> str:
    less = _less(row)
    return f"{percent(abs(less))} {'less' if less > 0 else 'more'}"


def _best(rows: Sequence[Row], quantity: str) -> Row | None:
    better = [row for row in rows if row.quantity == quantity and row.verdict == "better"]
    return min(better, key=lambda row: row.ratio or 1.0, default=None)


def _less(row: Row) -> float:
    return 1 - (row.ratio or 1.0)
