"""The same subject on several machines: how many agree, a mean within one kind, what parts them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted import compare

from heapwise.analysis import analyse
from heapwise.analysis.across_runs.by_machine import by_machine, kind_of_machine
from heapwise.evidence import Evidence
from heapwise.model import Result
from heapwise.model.by_machine import ByMachine

BASE = analyse(Evidence(compare()))
SUBJECT = next(
    row.subject
    for row in BASE.rows
    if not row.baseline and row.verdict != "cannot tell" and row.quantity == "wall_time"
)


def on_machine(kernel: str, verdict: str, ratio: float, host: str = "h") -> Result:
    rows = [
        replace(row, verdict=verdict, ratio=ratio, ratio_low=ratio * 0.98, ratio_high=ratio * 1.02)
        for row in BASE.rows
        if row.subject == SUBJECT and row.quantity == "wall_time"
    ]
    machine = replace(BASE.run.machine, kernel=kernel, host=host)
    return replace(BASE, rows=rows, run=replace(BASE.run, machine=machine))


def table(*results: Result) -> ByMachine:
    (found,) = by_machine(results)
    return found


def test_it_says_on_how_many_machines_the_sign_agrees_and_what_parts_them() -> None:
    found = table(
        on_machine("5", "better", 0.9),
        on_machine("5", "better", 0.92),
        on_machine("6", "worse", 1.1),
    )
    assert found.sentence.endswith("better on 2 of 3 machines, the opposite on 1")
    assert found.split == ["kernel"]
    assert found.means == []


def test_a_mean_is_only_of_machines_of_one_kind() -> None:
    alike = [on_machine("5", "better", ratio) for ratio in (0.90, 0.91, 0.92)]
    found = table(*alike, on_machine("6", "better", 0.5))
    (mean,) = found.means
    assert mean.machines == 3
    assert mean.ratio == pytest.approx(0.91, abs=0.002)
    assert mean.low < 0.91 < mean.high
    assert found.split == []


def test_a_property_that_both_sides_have_parts_nothing() -> None:
    found = table(on_machine("5", "better", 0.9), on_machine("5", "worse", 1.1))
    assert found.split == []


def test_the_kind_does_not_depend_on_the_name_of_the_host() -> None:
    one, two, three = (
        on_machine("5", "better", 1, "a"),
        on_machine("5", "better", 1, "b"),
        on_machine("6", "better", 1, "a"),
    )
    assert kind_of_machine(one.run.machine) == kind_of_machine(two.run.machine)
    assert kind_of_machine(one.run.machine) != kind_of_machine(three.run.machine)
