"""Did the figures depend on when they were measured?

Machines warm up, and other programs start and end. Each round has a new order, and the figures
are tested for a trend.
If it warns: you can use the ratios, but absolute values are less certain. If it fails: run again
on a quieter machine.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.kept import measured
from heapwise.evidence.series import Series, Table
from heapwise.model import Cell, Check, Setting, Setup
from heapwise.stats.claims.holm import holm
from heapwise.stats.series.trend import halves, trend
from heapwise.store import StoredRun
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import percent

ID, TITLE = "V9", "The order did not matter"

LEVEL = 0.01
MATTERS = 0.01
"""A drift over the whole run of less than 1 % is let pass however certain it is: the intervals
are wider than that."""


@dataclass(frozen=True)
class TrendTest:
    """One series tested for a trend. what: whose series it is. drift: over the whole run, as a
    share. n: rounds. tau: Kendall's. p_adjusted: Holm's, among the tests of one question."""

    experiment: str
    parameters: dict[str, Setting]
    what: str
    p: float
    drift: float
    n: int
    tau: float
    p_adjusted: float = 1.0


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    ratios = _ratio_trends(evidence)
    levels = _level_trends(stored, evidence.table)
    fixed = fixed_order(stored)
    figures = {
        "ratio_trends": [asdict(test) for test in ratios],
        "level_trends": [asdict(test) for test in levels],
        "order_was_fixed": fixed,
        "seed": stored.run.plan.seed,
    }
    moving = _certain(ratios)
    if moving:
        return Check(
            ID,
            TITLE,
            "fail",
            "Ratios changed in the course of the run: "
            f"{listed(moving)}. There is not one figure to report.",
            figures,
        )
    if fixed:
        return Check(
            ID,
            TITLE,
            "warn",
            "Every round ran the subjects in the same order, so each "
            "always followed the same neighbour.",
            figures,
        )
    if not ratios and not levels:
        return Check(
            ID,
            TITLE,
            "unavailable",
            "Fewer than 6 rounds: a drift could not be told from chance.",
            figures,
        )
    drifting = _certain(levels)
    if drifting:
        return Check(
            ID,
            TITLE,
            "warn",
            f"The machine drifted ({listed(drifting)}); ratios come "
            "from neighbours in time, so it cancels there, absolute values carry it.",
            figures,
        )
    return Check(
        ID,
        TITLE,
        "pass",
        f"Random order in each round (seed {stored.run.plan.seed}); no "
        f"trend in {counted(len(ratios) + len(levels), 'series', 'series')}.",
        figures,
    )


def _ratio_trends(evidence: Evidence) -> list[TrendTest]:
    """log(subject/baseline) against the round, for the first quantity of each experiment."""
    found = []
    for experiment in evidence.stored.run.experiments:
        baseline = evidence.baselines[experiment.id]
        first = experiment.quantities[0].name
        for cell in (c for c in evidence.cells[experiment.id] if c.quantity == first):
            row = evidence.table[cell]
            for subject in row:
                if subject == baseline or baseline not in row:
                    continue
                pairs = comparisons_of(evidence).pairs((cell, subject), (cell, baseline))
                if pairs.has_ratio:
                    logs = list(np.log(pairs.above) - np.log(pairs.below))
                    found += _test(cell, f"{subject} / {baseline}", logs)
    return _adjusted(found)


def _level_trends(stored: StoredRun, table: Table) -> list[TrendTest]:
    """All subjects together: log(value / own median), round by round."""
    firsts = {e.id: e.quantities[0].name for e in stored.run.experiments}
    found = []
    for cell, row in table.items():
        if cell.quantity == firsts.get(cell.experiment):
            found += _test(cell, "all subjects", _residuals(list(row.values())))
    return _adjusted(found)


def _residuals(series: list[Series]) -> list[float]:
    """One number a round, the median over subjects: samples of a round share its noise."""
    by_round: dict[int, list[float]] = {}
    for one in series:
        centre = one.median
        for number, value in one.rounds.items():
            if centre > 0 and value > 0:
                by_round.setdefault(number, []).append(float(np.log(value / centre)))
    return [float(np.median(logs)) for _, logs in sorted(by_round.items())]


def _test(cell: Cell, what: str, logs: list[float]) -> list[TrendTest]:
    along, steps = trend(logs), halves(logs)
    if along is None:
        return []
    p = min(1.0, 2 * min(along.p_value, steps.p_value)) if steps else along.p_value
    drift = along.drift
    if steps and abs(steps.shift) > abs(drift):
        drift = steps.shift
    return [
        TrendTest(
            cell.experiment,
            dict(cell.parameters),
            what,
            p,
            float(np.expm1(drift)),
            along.n,
            along.tau,
        )
    ]


def _adjusted(tests: list[TrendTest]) -> list[TrendTest]:
    adjusted = holm([test.p for test in tests])
    return [replace(test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True)]


def _certain(tests: list[TrendTest]) -> list[str]:
    return [
        f"{test.what} by {percent(test.drift)} (p {test.p_adjusted:.1g})"
        for test in tests
        if test.p_adjusted < LEVEL and abs(test.drift) > MATTERS
    ]


def fixed_order(stored: StoredRun) -> bool:
    """True when several rounds of several subjects all had one order."""
    orders: dict[tuple[str, int], list[tuple[str, Setup]]] = {}
    for process in measured(stored):
        key = (process.experiment, process.round)
        orders.setdefault(key, []).append((process.subject, process.setup))
    by_experiment: dict[str, list[tuple[tuple[str, Setup], ...]]] = {}
    for (experiment, _), order in orders.items():
        by_experiment.setdefault(experiment, []).append(tuple(order))
    return any(
        len(all_) >= 4 and len(all_[0]) >= 3 and len(set(all_)) == 1
        for all_ in by_experiment.values()
    )
