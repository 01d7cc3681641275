"""A sentence claims nothing that its row, or the trust in its run, does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from every_kind import EVERY_KIND
from planted import of_two_days, with_facts, with_plan
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.analysis.verdicts.comparison import between
from heapwise.analysis.verdicts.rows import make_rows
from heapwise.evidence import Evidence
from heapwise.model import Cell, PlanOptions, Process, WorkCheck
from heapwise.store import StoredRun

EQUAL = dict.fromkeys(Script().time, 1.0)


def with_rare_runs() -> StoredRun:
    return compare_run(
        Script(
            EQUAL,
            EQUAL,
            rounds=60,
            seed=2,
            bend=lambda name, number, value: (
                value * 10 if name == "jemalloc" and number % 7 == 3 else value
            ),
        )
    )


def with_another_ending() -> StoredRun:
    return with_plan(
        with_facts(compare_run(), lambda p: {"exit_code": 3 * (p.subject == "jemalloc")}),
        options=PlanOptions(any_exit=True),
    )


def with_a_failed_control() -> StoredRun:
    def edit(process: Process) -> Process:
        fails = (process.subject, process.round, process.warm_up) == ("glibc-control", 4, False)
        return replace(process, status="failed", reason="exit code 7") if fails else process

    return compare_run(Script(edit=edit))


@pytest.mark.parametrize(
    "make",
    [
        with_rare_runs,
        with_another_ending,
        with_a_failed_control,
        lambda: of_two_days(0.01),
        compare_run,
    ],
    ids=["rare runs", "another exit code", "a failed control", "two days", "none"],
)
def test_a_finding_has_the_verdict_of_its_row(make: Callable[[], StoredRun]) -> None:
    evidence = Evidence(make())
    rows = [row for row in make_rows(evidence) if row.ratio is not None]
    assert rows
    for row in rows:
        assert word(evidence, row.cell, row.subject, "glibc") == row.verdict, row.subject


def word(evidence: Evidence, cell: Cell, above: str, below: str) -> str:
    experiment = evidence.stored.run.experiments[0]
    sides = ((cell, above), (cell, below))
    [found] = between(evidence, experiment, sides, (above, below), "")
    return found.verdict


def test_two_subjects_of_which_neither_is_the_baseline_have_the_same_objections() -> None:
    evidence = Evidence(with_rare_runs())
    [cell] = [cell for cell in evidence.table if cell.quantity == "wall_time"]
    assert word(evidence, cell, "jemalloc", "mimalloc") == "cannot tell"
    assert word(evidence, cell, "mimalloc", "jemalloc") == "cannot tell"
    assert word(evidence, cell, "scudo", "mimalloc") == "no difference"
    ended = Evidence(with_another_ending())
    assert word(ended, cell, "jemalloc", "mimalloc") == "cannot tell"
    assert word(ended, cell, "scudo", "mimalloc") == "worse"


def test_a_replay_that_is_not_trustworthy_gives_no_code() -> None:
    stored = EVERY_KIND["advice"]()
    sound = analyse(Evidence(stored))
    assert "candidates gain" in sound.advice
    wrong = with_facts(stored, lambda p: {"checks": [WorkCheck("work", p.number > 0, "")]})
    result = analyse(Evidence(wrong))
    assert result.trust.verdict == "not trustworthy"
    assert result.advice.startswith("No advice: the figures are not trustworthy. V")
    assert not {*sound.headlines} & {*result.headlines}
