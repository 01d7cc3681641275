"""The aims of real programs under our heap, and the programs in which it has more memory."""

from __future__ import annotations

import pytest
from synthetic_heap import LEAN, Heap, heap_run
from synthetic_programs import LARGER, OURS, programs, programs_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.store import StoredRun
from heapwise.trust import check_run
from workshop.aims import Goal, goals, losses

USUAL = programs_run()


def sentence(run: StoredRun) -> str:
    """The one about peak memory."""
    start = "heapwise has more peak memory"
    return next((line for line in losses(Evidence(run)) if line.startswith(start)), "")


def judged(run: StoredRun) -> dict[str, Goal]:
    evidence = Evidence(run)
    return {goal.cell: goal for goal in goals(evidence, check_run(evidence))}


def test_programs_in_which_ours_has_more_peak_memory_are_named() -> None:
    assert sentence(USUAL) == (
        "heapwise has more peak memory than glibc in 1 of 3 programs: sqlite3 1.26x"
    )


def test_a_program_is_named_only_if_its_row_says_that_it_is_worse() -> None:
    """An interval that does not hold 1 is not enough."""
    run = programs_run(larger=1.007)
    (row,) = (
        row
        for row in analyse(Evidence(run)).rows
        if row.subject == OURS
        and row.parameters.get("program") == "sqlite3"
        and row.quantity == "peak_resident"
    )
    assert row.ratio_low is not None
    assert row.ratio_low > 1
    assert row.verdict != "worse"
    assert sentence(run) == ("heapwise has more peak memory than glibc in 0 of 3 programs")


def test_without_an_interval_there_is_no_sentence_about_peaks() -> None:
    assert sentence(programs_run(rounds=1)) == ""


def test_aims_for_programs_are_of_their_own_and_in_no_other() -> None:
    """A third more peak memory in one program fails two of them; without it both are met."""
    found = judged(USUAL)
    peak, mean = found["peak memory of programs"], found["peak memory of programs, mean"]
    assert (peak.verdict, mean.verdict) == ("not met", "met")
    assert peak.ratio == pytest.approx(LARGER, rel=0.01)
    assert mean.ratio == pytest.approx((LEAN[OURS] ** 2 * LARGER) ** (1 / 3), rel=0.01)
    assert "at most 1.08x" in peak.aim
    assert len(found["time of programs"].parts) == 3
    without = judged(heap_run(Heap()))
    for goal in ("geometric mean of all rows", "peak memory of every row", "no row far behind"):
        assert found[goal].ratio == pytest.approx(without[goal].ratio, rel=0.02)
        assert len(found[goal].parts) == len(without[goal].parts)
    assert without["time of programs"].verdict == "not measured"


def test_a_little_more_peak_memory_than_the_baseline_is_allowed() -> None:
    run = heap_run(Heap(extra=[programs()], lean={**LEAN, OURS: 1.05}))
    assert judged(run)["peak memory of programs"].verdict == "met"
