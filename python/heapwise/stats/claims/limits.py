"""Is a change beyond a limit? Two stages, and looks that are fixed beforehand.

The first stage may suspect, at the level ``suspect_level``; the second looks at fresh rounds alone,
at the level ``CONFIRM``. Rounds are independent, so a metric whose true change is at most its limit
fails with at most the product, and a gate of m metrics with at most m times as much: with
``suspect_level(m)`` that is ``FALSE_FAILURES``. Of the same build twice far fewer fail, since its
change is not the limit but zero.

A stage looks after fixed numbers of rounds (``looks``), at most ``MOST_LOOKS`` times with the look
that is taken when the time is up. Each look may err at this share of the level of its stage, so the
shares add up to the level (Bonferroni), whenever the time is up. Equal shares serve late looks,
where small changes beyond the limit are found; large ones are found at the first look all the same.
The problem, and finer ways to spend an error over looks: K. K. G. Lan and D. L. DeMets, "Discrete
sequential boundaries for clinical trials", Biometrika 70 (1983) 659-663.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from heapwise.stats.basics.arrays import Floats
from heapwise.stats.basics.quantiles import median_interval
from heapwise.stats.basics.student import LEAST
from heapwise.stats.claims.rare_runs import RareRuns
from heapwise.stats.ratios.layouts import layout_deviation, layout_means, ratio_over_layouts
from heapwise.stats.ratios.paired import PairedRatio, ratio_of_logs
from heapwise.stats.series.dependence import dependence

FALSE_FAILURES = 0.001
"""The share of gates of which no metric is beyond its limit."""

SUSPECT, CONFIRM = 0.01, 0.05
"""Levels of the two stages, one-sided. With many metrics the first is smaller."""

MISS = 0.05
"""The share of changes as large as the limit that may be called fine."""

FIRST_LOOK, GROWTH, MOST_LOOKS = 6, 1.5, 14
"""Rounds until the first look; each later look has this many times the rounds of the one before, so
the thirteenth has 778 rounds."""

COUNTS, CONFIRMED = 2, 6
"""Runs of each build in which something is counted; and if it seems to have regressed."""

REPEATED = 5
"""The same for a metric that is dear to count, if all runs of each build agree."""

MARGIN = 100
"""If the counts are normal, and two runs of each build were this close to each other by chance,
fewer than one in 1,000 such gates would be called regressed."""

ALL_LOOKS = [round(FIRST_LOOK * GROWTH**number) for number in range(MOST_LOOKS - 1)]

LimitVerdict = Literal["regressed", "fine", "cannot tell"]
Reason = Literal[
    "",
    "noise",
    "too few rounds",
    "not confirmed",
    "near the limit",
    "rare runs",
    "unlike peaks",
]


@dataclass(frozen=True)
class Decision:
    """One metric against its limit.

    change: new over base with its 95 % interval; of the fresh rounds if there are enough of them,
    else of all. fresh: how many rounds came after the suspicion; None: nothing was suspected.
    floor: the A/A noise floor, None if it is not known. reason: why it cannot be told. next_look:
    after how many rounds in all the next look is due, None after the last look; before, nothing
    changes. rare: the runs far beyond the typical one, if they were judged; of the fresh rounds if
    the metric regressed by them. rounds: those of ``change``. layout: the deviation between layouts
    of one build, if several were measured and it is known.
    """

    verdict: LimitVerdict
    change: PairedRatio | None
    fresh: int | None
    floor: float | None
    reason: Reason = ""
    next_look: int | None = FIRST_LOOK
    rare: RareRuns | None = None
    rounds: int = 0
    layout: float | None = None


@dataclass(frozen=True)
class RunsOfBoth:
    """new, base: the numbers of each round. control: those of the second label of the base."""

    new: Sequence[float]
    base: Sequence[float]
    control: Sequence[float] = ()

    def since(self, round: int) -> RunsOfBoth:
        return RunsOfBoth(self.new[round:], self.base[round:], self.control[round:])

    def until(self, round: int) -> RunsOfBoth:
        return RunsOfBoth(self.new[:round], self.base[:round], self.control[:round])


def suspect_level(metrics: int) -> float:
    """The level of the first stage, if a gate has this many statistical metrics."""
    return min(SUSPECT, FALSE_FAILURES / (CONFIRM * max(1, metrics)))


def looks(rounds: int) -> list[int]:
    """After how many rounds of a stage a look is taken: 6, 9, 14, ... up to ``rounds``."""
    return [look for look in ALL_LOOKS if look <= rounds]


def next_look(rounds: int) -> int | None:
    """The first one after ``rounds``; None after the last."""
    return next((look for look in ALL_LOOKS if look > rounds), None)


def decide_at(
    level: float, change: Sequence[float], control: Sequence[float], limit: float, *, ended: bool
) -> Decision:
    """level: that of the first stage. change: shape (n,), log ratios new over base, one for each
    round in the order of time. control: shape (m,), those of the base over itself. limit: 0.03
    allows 3 % more. ended: no round will follow, so a last look is taken at all of them.
    ``rare_limits`` judges the rare runs beside the typical one.

    regressed: the first stage suspects, all of the interval of the fresh rounds lies beyond the
    limit, and the change exceeds the limit by more than the noise floor. fine: all of the interval
    lies within the limit, and so does the noise floor.
    """
    return _decide(level, Rounds.of(change), Rounds.of(control), limit, ended)


def decide_ceiling(
    values: Sequence[float], ceiling: float, metrics: int = 1, *, ended: bool
) -> Decision:
    """As ``decide``, of what runs of one build need against the most that they may. There is no
    base that could differ from itself. change: what they need over the ceiling.

    The interval of the median must lie on the same side: of runs that take 5 ms and 300 ms in turn,
    the mean of the logarithms is at 40 ms, where none of them is.
    """
    logs = Rounds(np.log(np.asarray(values, dtype=np.float64) / ceiling))
    found = _decide(suspect_level(metrics), logs, None, 0.0, ended)
    middle = median_interval(values, _confidence(MISS))
    low = min(values) if middle.low is None else middle.low
    high = max(values) if middle.high is None else middle.high
    agrees = {"fine": high <= ceiling, "regressed": low > ceiling}.get(found.verdict, True)
    return found if agrees else replace(found, verdict="cannot tell", reason="near the limit")


def decide_over_layouts(
    change: Rounds, control: Rounds, limit: float, metrics: int = 1, *, ended: bool
) -> Decision:
    """As ``decide_at``, of builds that were linked again. The fresh rounds have the layouts of the
    others, so both stages share their luck. So the first stage keeps the promise alone."""
    return _decide(FALSE_FAILURES / max(1, metrics), change, control, limit, ended)


@dataclass(frozen=True)
class Rounds:
    """logs: shape (n,), log ratios in the order of time. layouts: of the builds in each round; None
    if each build has one layout."""

    logs: Floats
    layouts: tuple[int, ...] | None = None

    @classmethod
    def of(cls, logs: Sequence[float], layouts: Sequence[int] | None = None) -> Rounds:
        return cls(np.asarray(logs, dtype=np.float64), None if layouts is None else tuple(layouts))

    def __len__(self) -> int:
        return len(self.logs)

    def since(self, round: int) -> Rounds:
        return Rounds(self.logs[round:], self.layouts and self.layouts[round:])

    def until(self, round: int) -> Rounds:
        return Rounds(self.logs[:round], self.layouts and self.layouts[:round])

    def ratio(self) -> PairedRatio | None:
        """None below 3 rounds, where there is no interval."""
        if len(self) < LEAST:
            return None
        if self.layouts is None:
            found: PairedRatio | None = ratio_of_logs(self.logs)
            tied = dependence([self.logs.tolist()])
        else:
            found = ratio_over_layouts(self.logs, self.layouts)
            tied = dependence([self._without_layouts(self.layouts)])
        return found and found.widened(tied.factor, tied.strict_factor)

    def _without_layouts(self, layouts: tuple[int, ...]) -> list[float]:
        """The noise of the rounds, if each layout has at least two."""
        kinds = list(dict.fromkeys(layouts))
        if len(layouts) < 2 * len(kinds):
            return [*map(float, self.logs)]
        means = dict(zip(kinds, layout_means(self.logs, layouts), strict=True))
        return [
            float(value) - means[layout] for value, layout in zip(self.logs, layouts, strict=True)
        ]


def _decide(
    level: float, change: Rounds, control: Rounds | None, limit: float, ended: bool
) -> Decision:
    """control: None if there is no base."""
    top, floor = 1 + limit, 0.0 if control is None else _floor(control)
    suspected = _first_beyond(change, top, level)
    fresh = None if suspected is None else change.since(suspected)
    judged = change if fresh is None else fresh
    found = _latest(judged, top, CONFIRM if fresh is not None else None, ended)
    told = change if len(judged) < LEAST else judged
    shown = told.ratio()
    due = next_look(len(judged))
    verdict: LimitVerdict = "cannot tell"
    if found == "beyond" and shown is not None and shown.ratio > top * (1 + (floor or 0.0)):
        verdict = "regressed"
    elif found == "within" and floor is not None and floor <= limit:
        verdict = "fine"
    return Decision(
        verdict,
        shown,
        None if fresh is None else len(fresh),
        floor,
        "" if verdict != "cannot tell" else _reason(change, fresh, floor, limit),
        due and (suspected or 0) + due,
        rounds=len(told),
        layout=None
        if control is None or control.layouts is None
        else layout_deviation(control.logs, control.layouts),
    )


def _reason(change: Rounds, fresh: Rounds | None, floor: float | None, limit: float) -> Reason:
    if len(change) < FIRST_LOOK:
        return "too few rounds"
    if floor is None or floor > limit:
        return "noise"
    return "near the limit" if fresh is None else "not confirmed"


def _first_beyond(change: Rounds, top: float, level: float) -> int | None:
    """After how many rounds the first stage suspects."""
    return next(
        (
            rounds
            for rounds in looks(len(change))
            if _side(change.until(rounds), top, level, None) == "beyond"
        ),
        None,
    )


def _latest(judged: Rounds, top: float, beyond: float | None, ended: bool) -> str:
    """What the newest look says. beyond: the level of being beyond; None: that is not asked."""
    taken = looks(len(judged))
    found = _side(judged.until(taken[-1]), top, beyond, MISS) if taken else "between"
    if found == "between" and ended and len(judged) not in taken:
        return _side(judged, top, beyond, MISS)
    return found


def _side(judged: Rounds, top: float, beyond: float | None, within: float | None) -> str:
    """On which side of the limit all of the interval lies. beyond, within: the levels of all looks
    of the stage together."""
    ratio = judged.ratio()
    if ratio is None:
        return "between"
    if beyond is not None and (ends := ratio.ends(_confidence(beyond))) and ends[0] > top:
        return "beyond"
    if within is not None and (ends := ratio.ends(_confidence(within))) and ends[1] <= top:
        return "within"
    return "between"


def _confidence(level: float) -> float:
    """The confidence of the interval of one look, of which one end matters."""
    return 1 - 2 * level / MOST_LOOKS


def _floor(control: Rounds) -> float | None:
    """How far from 1 the base may be from itself, as ``noise_floor`` has it."""
    found = control.ratio()
    if found is None or found.low is None or found.high is None:
        return None
    return max(found.high, 1 / found.low) - 1


def decide_counts(
    base: Sequence[int], new: Sequence[int], limit: float, *, dear: bool = False
) -> LimitVerdict:
    """Counts of several runs of either build, ``COUNTS`` at least. dear: to count takes many times
    as long as to run.

    If all runs of each build agree, the counts are exact. Else every answer needs a margin of
    ``MARGIN`` times the difference between runs of one build. A regression takes ``CONFIRMED``
    runs of each: then a program that tosses a coin fails once in 2,000 times. If the count is dear
    and all agree, it takes ``REPEATED``: once in 1,000 times.
    """
    if min(len(base), len(new)) < COUNTS:
        return "cannot tell"
    margin = MARGIN * max(max(counts) - min(counts) for counts in (base, new))
    if max(new) - min(base) <= limit * min(base) - margin:
        return "fine"
    needed = runs_to_confirm(base, new, dear=dear)
    if is_suspect(base, new, limit) and min(len(base), len(new)) >= needed:
        return "regressed"
    return "cannot tell"


def runs_to_confirm(base: Sequence[int], new: Sequence[int], *, dear: bool) -> int:
    """How many runs of each build a regression takes."""
    agree = all(len({*counts}) == 1 for counts in (base, new))
    return REPEATED if dear and agree else CONFIRMED


def is_suspect(base: Sequence[int], new: Sequence[int], limit: float) -> bool:
    """Whether these counts would be a regression, if enough runs had them."""
    margin = MARGIN * max(max(counts) - min(counts) for counts in (base, new))
    return min(new) - max(base) > limit * max(base) + margin
