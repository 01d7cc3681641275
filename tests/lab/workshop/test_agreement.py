"""A replay agrees with the program if both say of an allocator that it is faster, or slower."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import compare_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import Cell, Replay, Result, Settings
from workshop.agreement import agreement

COMPARED = analyse(Evidence(compare_run()))
CALLS = 10**9
NS = {"glibc": 1.0, "mimalloc": 0.8, "jemalloc": 1.2}
"""What a replayed call takes, made up. The program takes 2.4 s with glibc."""


def replayed(threads: int = 4) -> Result:
    """The same allocators in a replay, whose rows have the quantity of one call."""
    run = COMPARED.run
    options = replace(run.plan.options, replay=Replay("a.hwt", "a.script", [], CALLS, threads))
    quantity = "processor_time" if threads == 1 else "time"
    rows = [
        replace(
            row,
            subject=f"malloc@{row.subject}",
            cell=Cell("trace/replay", Settings({"schedule": schedule}), quantity),
            median=NS[row.subject] * (1 if schedule == "fast" else 99),
        )
        for row in COMPARED.rows
        if row.quantity == "wall_time" and row.subject in NS
        for schedule in ("fast", "order")
    ]
    return replace(COMPARED, run=replace(run, plan=replace(run.plan, options=options)), rows=rows)


@pytest.mark.parametrize("threads", [1, 4])
def test_the_predicted_change_is_that_of_the_calls_over_the_programs_time(threads: int) -> None:
    pairs = {pair.allocator: pair for pair in agreement(COMPARED, replayed(threads))}
    assert pairs.keys() == {"mimalloc", "jemalloc"}
    good, bad = pairs["mimalloc"], pairs["jemalloc"]
    assert good.found == pytest.approx(-0.1, abs=0.01)
    assert good.predicted == pytest.approx(-0.2 / 2.4, rel=0.05)
    assert (good.agrees, good.is_sure, bad.agrees, bad.is_sure) == (True, True, False, True)
    assert "DISAGREES" in str(bad)


def test_a_run_that_plays_no_trace_is_refused() -> None:
    with pytest.raises(ValueError, match="not the replay of a trace"):
        list(agreement(COMPARED, COMPARED))
