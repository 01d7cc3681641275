"""Numbers with steps: an interval is never narrower than what the clock can tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import changed, pool_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import Process, Quantity
from heapwise.model.facts import Clock, Start
from heapwise.store import StoredRun


def of_single_calls(resolution_ns: float) -> StoredRun:
    """Each call of ``mutex`` takes 22 ns in every round, of all others 19 ns, by such a clock."""
    stored = pool_run(rounds=8)

    def clocked(process: Process) -> Process:
        clock = Clock(resolution_ns=resolution_ns, overhead_ns=19.0)
        return changed(process, start=Start(clock=clock))

    experiments = [
        replace(e, quantities=[Quantity("alloc_p50", "ns", "lower")])
        for e in stored.run.experiments
    ]
    samples = [
        replace(s, values={"alloc_p50": 22.0 if s.subject == "mutex" else 19.0})
        for s in stored.samples
    ]
    return replace(
        stored,
        run=replace(stored.run, experiments=experiments),
        samples=samples,
        processes=[clocked(p) for p in stored.processes],
    )


@pytest.mark.parametrize(("resolution_ns", "step"), [(0.0, 1 / 128), (1.0, 1 / 19)])
def test_the_interval_of_a_quantile_has_the_step_of_its_clock(
    resolution_ns: float, step: float
) -> None:
    rows = {row.subject: row for row in analyse(Evidence(of_single_calls(resolution_ns))).rows}
    same, slower = rows["unsynchronized"], rows["mutex"]
    assert (same.ratio, slower.ratio) == (1, pytest.approx(22 / 19))
    assert same.ratio_low is not None
    assert same.ratio_high is not None
    assert same.ci_low is not None
    assert same.ci_high is not None
    assert same.ratio_high - same.ratio_low == pytest.approx(2 * step, rel=0.05)
    assert same.ci_high - same.ci_low == pytest.approx(19 * step, rel=0.05)
    assert slower.ratio_high != slower.ratio_low


def test_a_difference_of_one_step_is_not_claimed() -> None:
    rows = {row.subject: row for row in analyse(Evidence(of_single_calls(4.0))).rows}
    assert rows["mutex"].verdict == "cannot tell"
    fine = {row.subject: row for row in analyse(Evidence(of_single_calls(0.0))).rows}
    assert fine["mutex"].verdict == "worse"


def test_a_mean_of_many_operations_has_no_steps() -> None:
    evidence = Evidence(pool_run(rounds=8))
    assert {
        comparisons_of(evidence).step(cell, name)
        for cell, row in evidence.table.items()
        for name in row
    } == {0.0}
