"""When is enough measured? When every interval is narrow, or time is up, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from math import log

from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.judged_limits import sides
from heapwise.model import SIDE_BY_SIDE, Cell, Plan, Setup
from heapwise.wording.numbers import percent

MOST_ROUNDS = 500
"""The most rounds of a run without a number of rounds: more pairs narrow no interval that drift
does not widen."""

CERTAIN = 1.5
"""A row is told apart before the end if a strict interval this many times as wide excludes 1. With
the plain one, a run that looks 25 times calls up to 5 % of equal rows different."""

KNOWN, KNOWN_SHARE = 0.01, 0.25
"""Rounds of a row that is told apart end when half of its interval is within this, or within this
share of the difference itself."""

LOOK_AGAIN = 1.1
"""Intervals are computed again when there are this many times the rounds of the last look."""

MAKE_UP = 2
"""Rounds of which samples were lost are made up until there are this many times the planned ones:
a machine that takes away every other sample will take away those, too."""


def widest_half_width(evidence: Evidence) -> float | None:
    """The widest half of the 95 % intervals of a comparison's time, relative, of the subjects that
    are not told apart from the baseline. Of a run that goes side by side, by those rounds: some
    subjects may have no others.

    It is computed from the samples that count, as the table is. None if an interval cannot be given
    yet. 0 if all are told apart.
    """
    judged = _judged(evidence)
    rows: dict[Cell, set[str]] = {}
    for cell, row in evidence.table.items():
        if cell.quantity in (_first(evidence), SIDE_BY_SIDE):
            rows.setdefault(replace(cell, quantity=judged), set()).update(row)
    widths = [_widest(evidence, cell, subjects) for cell, subjects in rows.items()]
    known = [width for width in widths if width is not None]
    return max(known) if known and len(known) == len(widths) else None


def limited_half_width(evidence: Evidence) -> float | None:
    """The wider half of two intervals of a gate's time: of the new build over the base, and of the
    base over itself. None if one cannot be given yet."""
    base, new = sides(evidence)
    [control] = evidence.controls.values()
    first = evidence.stored.run.experiments[0].quantities[0].name
    cell = next((cell for cell in evidence.table if cell.quantity == first), None)
    if cell is None or not {base, new, control} <= evidence.table[cell].keys():
        return None
    found = [
        comparisons_of(evidence).ratio((cell, name), (cell, base))[0] for name in (new, control)
    ]
    widths = [ratio.half_width for ratio in found if ratio is not None]
    known = [width for width in widths if width is not None]
    return max(known) if len(known) == len(found) else None


def settled(evidence: Evidence) -> set[tuple[Setup, str]]:
    """Rows that need no more rounds: told apart, and known well enough. The others get the time
    (O. Maron and A. W. Moore, "Hoeffding races", NIPS 1993).

    Of a run that goes side by side, by those rounds. Empty if all are settled: rounds of nothing
    but the baseline would show nothing.
    """
    found, rows = set(), 0
    judged = _judged(evidence)
    for cell, row in evidence.table.items():
        baseline = evidence.baselines[cell.experiment]
        if cell.quantity != judged or baseline not in row:
            continue
        for subject in row.keys() - {baseline} - evidence.control_names:
            rows += 1
            ratio, _ = comparisons_of(evidence).ratio((cell, subject), (cell, baseline))
            if ratio is None or ratio.half_width is None:
                continue
            enough = max(KNOWN, KNOWN_SHARE * abs(log(ratio.ratio)))
            told = _half_width(evidence, cell, subject, baseline) == 0
            if told and ratio.half_width <= enough:
                found.add((cell.setup, subject))
    return found if len(found) < rows else set()


def _first(evidence: Evidence) -> str:
    """The quantity by which rounds of separate processes end."""
    return evidence.stored.run.experiments[0].quantities[0].name


def _judged(evidence: Evidence) -> str:
    """The quantity by which the rounds end now."""
    goes_beside = evidence.stored.run.plan.options.together_from is not None
    return SIDE_BY_SIDE if goes_beside else _first(evidence)


def _widest(evidence: Evidence, cell: Cell, subjects: set[str]) -> float | None:
    """subjects: that were measured, by themselves or side by side."""
    baseline = evidence.baselines[cell.experiment]
    if baseline not in evidence.table.get(cell, {}):
        return None
    widths = []
    for subject in subjects - {baseline}:
        if _was_dropped(evidence, cell, subject):
            continue  # no interval of a dropped subject will ever narrow
        width = _half_width(evidence, cell, subject, baseline)
        if width is None:
            return None
        widths.append(width)
    return max(widths, default=None)


def _half_width(evidence: Evidence, cell: Cell, subject: str, baseline: str) -> float | None:
    """0 if the subject is told apart."""
    if subject not in evidence.table.get(cell, {}):
        return None
    ratio, _ = comparisons_of(evidence).ratio((cell, subject), (cell, baseline))
    if ratio is None:
        return None
    strict = ratio.widened(CERTAIN).strict
    told = strict is not None and not strict[0] <= 1 <= strict[1]
    noise = comparisons_of(evidence).noise.get(cell)
    least = noise.least(ratio) if noise else 0.0
    beyond = max(ratio.ratio, 1 / ratio.ratio) - 1 > least
    return 0.0 if told and beyond else ratio.half_width


def _was_dropped(evidence: Evidence, cell: Cell, subject: str) -> bool:
    row = evidence.table[cell]
    if subject in evidence.control_names:
        return False
    rounds = len(row[subject].rounds) if subject in row else 0
    return rounds < len(row[evidence.baselines[cell.experiment]].rounds) / 2


def reason_to_stop(
    plan: Plan, rounds_done: int, elapsed_s: float, half_width: float | None, *, lost: bool = False
) -> str:
    """Why no further round is begun; "" to go on. ``rounds_done`` without warm-up.

    lost: some subject has fewer rounds that count than were planned.
    """
    planned = plan.max_rounds or plan.min_rounds
    made_up = not lost or rounds_done >= MAKE_UP * planned
    time_is_up = bool(plan.time_s) and elapsed_s >= plan.time_s
    if plan.max_rounds and rounds_done >= plan.max_rounds and made_up:
        return "all rounds are done"
    if time_is_up and (rounds_done >= plan.min_rounds or plan.options.time_given):
        return "the time is up" if rounds_done else ""
    most = plan.options.most_rounds or MOST_ROUNDS
    if not plan.max_rounds and rounds_done >= most:
        return f"{most} rounds are done"
    if rounds_done < plan.min_rounds or plan.precision <= 0 or not made_up:
        return ""
    if half_width is not None and half_width <= plan.precision:
        return f"every interval is within ±{percent(plan.precision)}"
    return ""
