"""How long a plan takes, as it is estimated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heapwise.model import Run
from heapwise.runner import Prepared, cells, subjects_of
from heapwise.runner.executors.measurement import experiment_executor
from heapwise.store import read_run, usual_costs
from heapwise.study.round_costs import estimate_s

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def run() -> Run:
    return read_run(DATA, "749d").run


def renamed(run: Run, name: str) -> Prepared:
    """The plan of one experiment at default size, as if it had this name."""
    experiment = replace(run.experiments[0], id=name)
    options = replace(run.plan.options, repeats=None)
    whole = {p.name: p.default for p in experiment.parameters if p.name == "iterations"}
    plan = replace(run.plan, smoke=False, options=options, parameters=run.plan.parameters | whole)
    return Prepared(plan, [experiment], {}, experiment_executor)


def processes(plan: Prepared) -> int:
    experiment = plan.experiments[0]
    of_a_round = len(cells(experiment, plan.plan)) * len(subjects_of(experiment, plan.plan))
    return of_a_round * plan.plan.max_rounds


def test_without_runs_in_the_store_the_usual_costs_count(run: Run) -> None:
    long = renamed(run, "memory/cross_thread_free")  # 40 times the mean of the others
    usual = usual_costs()["memory/cross_thread_free"]
    assert estimate_s(long) == pytest.approx(processes(long) * usual, rel=0.05)
    assert estimate_s(long) > 10 * estimate_s(renamed(run, "unknown/one"))


def test_costs_of_runs_in_the_store_come_first(run: Run) -> None:
    prepared = renamed(run, "memory/cross_thread_free")
    assert estimate_s(prepared, {"memory/cross_thread_free": 0.5}) == pytest.approx(
        processes(prepared) * 0.53
    )
