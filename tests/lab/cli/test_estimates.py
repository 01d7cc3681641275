"""How long a plan takes, as it is estimated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heapwise.model import Reproduction, Run, Setting
from heapwise.runner import Prepared, cells, subjects_of
from heapwise.runner.executors.measurement import experiment_executor
from heapwise.store import read_run, usual_costs
from heapwise.study.round_costs import LAUNCH_S, estimate_s

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


def in_cells_of(prepared: Prepared, report: str, changes: dict[str, Setting]) -> Prepared:
    [experiment] = prepared.experiments
    reproduction = Reproduction(report, {experiment.id: [{}]}, {experiment.id: changes})
    options = replace(prepared.plan.options, reproduction=reproduction)
    return replace(prepared, plan=replace(prepared.plan, options=options))


def test_without_runs_in_the_store_the_usual_costs_count(run: Run) -> None:
    long = renamed(run, "memory/cross_thread_free")  # 40 times the mean of the others
    usual = usual_costs()["memory/cross_thread_free"]
    assert estimate_s(long) == pytest.approx(processes(long) * usual, rel=0.05)
    assert estimate_s(long) > 10 * estimate_s(renamed(run, "unknown/one"))


def test_a_published_report_has_costs_of_its_own_cells(run: Run) -> None:
    """Its cells may be larger than the default by any factor."""
    usual = usual_costs("faf-allocator-bench")["heap/pair"]
    as_published = in_cells_of(renamed(run, "heap/pair"), "faf-allocator-bench", {})
    expected = processes(as_published) * (usual + LAUNCH_S)
    assert estimate_s(as_published) == pytest.approx(expected)
    changed = in_cells_of(renamed(run, "heap/pair"), "faf-allocator-bench", {"iterations": 100})
    assert estimate_s(changed) != pytest.approx(expected)


def test_costs_of_runs_in_the_store_come_first(run: Run) -> None:
    prepared = renamed(run, "memory/cross_thread_free")
    assert estimate_s(prepared, {"memory/cross_thread_free": 0.5}) == pytest.approx(
        processes(prepared) * 0.53
    )
