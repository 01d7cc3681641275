"""How many rounds a plan has follows from how many comparisons they have to bear."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import Script, compare_run, pool_run

from heapwise.evidence import Evidence
from heapwise.model import Experiment, SubjectSpec
from heapwise.runner.plan import compare_plan, experiment_plan
from heapwise.trust import check_run


def with_subjects(number: int) -> Experiment:
    experiment = pool_run().run.experiments[0]
    specs = [SubjectSpec(f"s{place}", "inline", "") for place in range(number)]
    return replace(
        experiment, subjects=[*specs, SubjectSpec("missing", "inline", "", False)], baseline="s0"
    )


@pytest.mark.parametrize(("subjects", "rounds"), [(2, 6), (3, 7), (8, 9), (13, 9), (60, 12)])
def test_more_subjects_take_more_rounds(subjects: int, rounds: int) -> None:
    """The smallest p-value of n rounds is 2^(1-n), and Holm multiplies it by the comparisons."""
    assert experiment_plan.least_rounds([with_subjects(subjects)]) == rounds
    assert experiment_plan.least_rounds([with_subjects(2), with_subjects(subjects)]) == rounds


def test_the_control_is_not_a_comparison() -> None:
    plan = compare_run().run.plan
    assert len(plan.subjects) == 5
    assert compare_plan.least_rounds(plan.subjects) == 7


def test_with_that_many_rounds_a_clear_difference_survives_and_nothing_warns() -> None:
    script = Script(
        memory={"glibc": 1.0, "glibc-control": 1.0, "mimalloc": 1.3, "jemalloc": 0.7, "scudo": 1.2}
    )
    needed = compare_plan.least_rounds(compare_run(script).run.plan.subjects)
    words = {}
    for rounds in (needed - 1, needed):
        evidence = Evidence(compare_run(replace(script, rounds=rounds)))
        check = next(c for c in check_run(evidence).checks if c.id == "V23")
        words[rounds] = check.verdict
    assert words == {needed - 1: "warn", needed: "pass"}
