"""What all checks say together, and that clean data raises no alarm."""

from __future__ import annotations

import re
from typing import Any

import pytest
from planted import compare, counted
from synthetic import Script, compare_run, pool_run

from heapwise.evidence import Evidence
from heapwise.model import (
    Check,
)
from heapwise.trust import check_run
from heapwise.trust.applies import Applies
from heapwise.trust.judge import check_modules, overall
from heapwise.trust.subjects import v04_elision


def test_clean_comparison_is_good() -> None:
    trust = check_run(Evidence(compare()))
    assert trust.verdict == "good"
    assert {c.id for c in trust.checks if c.verdict != "pass"} == {
        "V4",
        "V6",
        "V14",
        "V16",
        "V24",
        "V25",
        "V26",
        "V27",
        "V30",
    }


def test_clean_experiments_pass_everything_that_they_have_facts_for() -> None:
    stored = counted(pool_run(rounds=8), 1_000_000)
    verdicts = {c.id: c.verdict for c in check_run(Evidence(stored)).checks}
    missing = {id for id, verdict in verdicts.items() if verdict != "pass"}
    assert missing == {"V2", "V3", "V5", "V6", "V14", "V16", "V22", "V24", "V25"} | {
        f"V{number}" for number in range(27, 32)
    }
    assert all(verdicts[id] == "unavailable" for id in missing)


def test_a_check_that_does_not_apply_to_a_run_says_why() -> None:
    experiments = Evidence(counted(pool_run(rounds=8), 1_000_000))
    found = {
        module.ID: module.check(experiments)
        for module in check_modules()
        if isinstance(module.check, Applies) and isinstance(module.check.others, str)
    }
    why = {id: check.detail for id, check in found.items() if check.verdict == "unavailable"}
    assert why.keys() == {"V16", "V22", "V27", "V29", "V31"} == found.keys() - {"V4"}
    assert why["V22"] == "Does not apply: the experiments time regions inside their processes."
    program = v04_elision.check(Evidence(compare()))
    assert program.detail == "Does not apply: the program is measured as its owner built it."


def test_false_alarms_are_rare() -> None:
    runs = (compare_run(Script(seed=seed)) for seed in range(40))
    alarms = sum(check_run(Evidence(run)).verdict != "good" for run in runs)
    assert alarms <= 4


def test_every_check_explains_itself_and_has_its_number() -> None:
    for module in check_modules():
        assert module.__doc__
        assert module.__doc__.strip().endswith(("?", ".", "had."))
        assert re.fullmatch(r"V\d+", module.ID)
        assert module.__name__.rpartition(".")[2].startswith(f"v{int(module.ID[1:]):02d}_")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["pass", "pass"], "good"),
        (["pass", "unavailable"], "good"),
        (["pass", "warn"], "limited"),
        (["warn", "fail"], "not trustworthy"),
    ],
)
def test_the_worst_decides(verdicts: list[Any], expected: str) -> None:
    checks = [Check(f"V{90 + i}", "", verdict, "") for i, verdict in enumerate(verdicts)]
    assert overall(checks, {"V1"}) == expected


def test_an_essential_check_that_is_unavailable_limits() -> None:
    assert overall([Check("V5", "", "unavailable", "")], {"V5"}) == "limited"
