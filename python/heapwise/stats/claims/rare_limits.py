"""Are the rare runs of a new build within a limit? The same two stages, beside the typical run.

``limits`` judges the typical run. A build that takes twice as long in every tenth run has the same
typical run, and its mean is 10 % more. So rare runs may raise the mean by no more than the limit.
The levels are those of a further metric: ``suspect_level`` counts two for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapwise.stats.claims.limits import (
    CONFIRM,
    MOST_LOOKS,
    Decision,
    RunsOfBoth,
    decide_at,
    looks,
    next_look,
    suspect_level,
)
from heapwise.stats.claims.rare_runs import RareRuns, rare_runs

SEEN = 20
"""Rounds from which "fine" needs no caveat: of builds of which every tenth run is rare, seven in
eight have shown one by then. A gate takes this many if its time allows."""

CHANCE = 0.35
"""If chance makes as many rare runs this often, more of them than the base has do not prevent
"fine". One run that is the longest of all is the new build's by chance once in three times."""


def decide_with_rare(
    change: Sequence[float],
    control: Sequence[float],
    limit: float,
    metrics: int = 1,
    *,
    ended: bool = False,
    runs: RunsOfBoth,
) -> Decision:
    """As ``limits.decide_at``, but either verdict may also come of the rare runs. runs: the numbers
    themselves."""
    level = suspect_level(2 * metrics)
    typical = decide_at(level, change, control, limit, ended=ended)
    return _with_rare_runs(typical, runs, limit, level, ended=ended)


def _with_rare_runs(
    typical: Decision, runs: RunsOfBoth, limit: float, level: float, *, ended: bool
) -> Decision:
    """The decision about the typical run, changed by what the rare runs say."""
    found = _rare(runs, limit)
    decision = replace(typical, rare=found)
    if typical.verdict == "regressed" or found is None:
        return decision
    rounds = len(runs.new)
    started = next(
        (
            look
            for look in looks(rounds)
            if _is_beyond(_rare(runs.until(look), limit), limit, level)
        ),
        None,
    )
    if started is not None:
        return _confirmed(decision, runs, limit, started, ended=ended)
    if typical.verdict != "fine":
        return decision
    if is_objection(found, limit):
        return replace(decision, verdict="cannot tell", reason="rare runs")
    if rounds < SEEN and not ended:
        return replace(decision, verdict="cannot tell", reason="too few rounds")
    return decision


def is_objection(found: RareRuns, limit: float) -> bool:
    """Whether the new build cannot be called fine: its rare runs raise its mean beyond the limit,
    and chance alone seldom makes this many."""
    return found.excess > limit and found.p_more <= CHANCE


def _confirmed(
    decision: Decision, runs: RunsOfBoth, limit: float, started: int, *, ended: bool
) -> Decision:
    """The second stage looks at fresh rounds alone."""
    fresh = runs.since(started)
    count = len(fresh.new)
    taken = [*looks(count), *([count] if ended else [])]
    found = _rare(fresh.until(taken[-1]), limit) if taken else None
    if _is_beyond(found, limit, CONFIRM):
        return replace(decision, verdict="regressed", reason="rare runs", rare=found, fresh=count)
    due = next_look(count)
    return replace(
        decision,
        verdict="cannot tell",
        reason="rare runs",
        fresh=count,
        next_look=due and started + due,
    )


def _rare(runs: RunsOfBoth, limit: float) -> RareRuns | None:
    return rare_runs(runs.new, [*runs.base, *runs.control], limit)


def _is_beyond(found: RareRuns | None, limit: float, level: float) -> bool:
    """Both that they are more, and that they raise the mean by more than the limit."""
    if found is None or found.excess <= limit:
        return False
    return max(found.p_more, found.p_beyond(limit)) <= level / MOST_LOOKS
