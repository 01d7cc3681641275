"""A bound is kept or broken only beyond the noise floor, by rounds and never by repeats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import pool_run
from synthetic_shelf import shelf_run

from heapwise.analysis import analyse
from heapwise.analysis.verdicts.verdict import Figure, kept
from heapwise.evidence import Evidence
from heapwise.model import Result
from heapwise.store import StoredRun
from heapwise.trust import check_run
from workshop.aims import Goal, goals


@pytest.mark.parametrize(
    ("figure", "at_least", "at_most", "floor", "word"),
    [
        (Figure(1.6, 1.55, 1.65), 1.5, None, 0.01, "met"),
        (Figure(1.6, 1.55, 1.65), 1.5, None, None, "met"),
        (Figure(1.6, 1.55, 1.65), 1.5, None, 0.10, "cannot tell here"),
        (Figure(1.4, 1.35, 1.45), 1.5, None, 0.01, "not met"),
        (Figure(1.4, 1.35, 1.45), 1.5, None, 0.10, "cannot tell here"),
        (Figure(1.5, 1.45, 1.55), 1.5, None, 0.01, "cannot tell here"),
        (Figure(1.6, None, None), 1.5, None, 0.01, "cannot tell here"),
        (Figure(1.6, 1.55, 1.65, strict=(1.51, 1.69)), 1.5, None, 0.01, "met"),
        (Figure(1.6, 1.55, 1.65, strict=(1.49, 1.71)), 1.5, None, 0.01, "cannot tell here"),
        (Figure(1.4, 1.35, 1.45, strict=(1.31, 1.49)), 1.5, None, 0.01, "not met"),
        (Figure(1.4, 1.35, 1.45, strict=(1.29, 1.51)), 1.5, None, 0.01, "cannot tell here"),
        (Figure(0.9, 0.88, 0.92), 0.0, 1.0, 0.05, "met"),
        (Figure(0.9, 0.88, 0.92), 0.0, 1.0, 0.20, "cannot tell here"),
        (Figure(1.1, 1.08, 1.12), 0.0, 1.0, 0.05, "not met"),
        (Figure(1.1, 1.08, 1.12), 0.0, 1.0, 0.20, "cannot tell here"),
        (Figure(0.0, 0.0, 0.0), 0.0, 0.0, 0.2, "met"),
        (Figure(0.0, 0.0, 3.0), 0.0, 0.0, None, "not met"),
    ],
)
def test_a_bound_takes_the_interval_and_the_floor(
    figure: Figure, at_least: float, at_most: float | None, floor: float | None, word: str
) -> None:
    assert kept(figure, at_least, at_most, floor) == word


@pytest.mark.parametrize("rounds", [1, 2])
def test_fewer_than_three_rounds_meet_nothing(rounds: int) -> None:
    found = judged_goals(pool_run(rounds=rounds, threads=[1, 2]))
    assert found
    assert {goal.verdict for goal in found} <= {"cannot tell here", "not measured"}


def judged_goals(stored: StoredRun) -> list[Goal]:
    evidence = Evidence(stored)
    return goals(evidence, check_run(evidence))


def judged(result: Result) -> tuple[object, ...]:
    """Everything that is not a description of the repeats themselves."""
    rows = [
        (
            r.subject,
            r.experiment,
            str(r.parameters),
            r.ci_low,
            r.ci_high,
            r.ratio,
            r.ratio_low,
            r.ratio_high,
            r.verdict,
            r.note,
        )
        for r in result.rows
    ]
    return (
        rows,
        result.expectations,
        result.findings,
        result.headlines,
        result.advice,
        result.noise_floor,
    )


@pytest.mark.parametrize(
    "stored", [pool_run(rounds=4, threads=[1, 2]), shelf_run()], ids=["pool", "shelf"]
)
def test_repeats_are_never_the_unit(stored: StoredRun) -> None:
    """Copies of every repeat tell nothing new, so no verdict, interval, goal or mean moves."""
    copies = [
        replace(sample, repeat=sample.repeat + 1000 * copy)
        for sample in stored.samples
        for copy in range(4)
    ]
    once, often = (analyse(Evidence(run)) for run in (stored, replace(stored, samples=copies)))
    assert judged(often) == judged(once)
    assert judged_goals(replace(stored, samples=copies)) == judged_goals(stored)
