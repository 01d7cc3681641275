"""When is enough measured? When every interval is narrow, or the time is up."""

from __future__ import annotations

from collections import defaultdict

from heapwise.model import Plan, Sample
from heapwise.runner.steps import control_name

MOST_ROUNDS = 500
"""Of a run without a number of rounds: more pairs narrow no interval that drift does not widen."""

LOOK_AGAIN = 1.1
"""Intervals are computed again when there are so many times the rounds of the last look."""


def widest_half_width(samples: list[Sample], baseline: str, quantity: str) -> float | None:
    """Of the 95 % intervals of all paired ratios, the widest half, relative to its ratio.

    None when there is an interval that cannot be given yet. ``samples`` are those that count.
    """
    from heapwise.stats.paired import paired_ratio

    by_subject: dict[str, dict[int, float]] = defaultdict(dict)
    for sample in samples:
        if quantity in sample.values:
            by_subject[sample.subject][sample.round] = sample.values[quantity]
    base = by_subject.pop(baseline, {})
    widest = 0.0
    for subject, values in by_subject.items():
        rounds = sorted(values.keys() & base.keys())
        if subject != control_name(baseline) and len(rounds) < len(base) / 2:
            continue  # it was dropped: no interval of it will ever narrow
        if not rounds:
            return None
        found = paired_ratio([values[r] for r in rounds], [base[r] for r in rounds])
        if found.low is None or found.high is None:
            return None
        widest = max(widest, (found.high - found.low) / 2 / found.ratio)
    return widest if base else None


def reason_to_stop(
    plan: Plan, rounds_done: int, elapsed_s: float, half_width: float | None
) -> str:
    """Why no further round is begun; "" to go on. ``rounds_done`` without warm-up."""
    if plan.max_rounds and rounds_done >= plan.max_rounds:
        return "all rounds are done"
    if not plan.max_rounds and rounds_done >= MOST_ROUNDS:
        return f"{MOST_ROUNDS} rounds are done"
    time_is_up = bool(plan.time_s) and elapsed_s >= plan.time_s
    if time_is_up and (rounds_done >= plan.min_rounds or plan.options.get("time_given")):
        return "the time is up" if rounds_done else ""
    if rounds_done < plan.min_rounds or plan.precision <= 0:
        return ""
    if half_width is not None and half_width <= plan.precision:
        return f"every interval is within ±{plan.precision:.1%}"
    return ""
