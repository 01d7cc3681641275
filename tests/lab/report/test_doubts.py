"""A comparison names what stands against a verdict that the interval in the table would allow, and
no note says a thing twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.document.terminal import terminal
from heapwise.evidence import Evidence
from heapwise.model import Result
from heapwise.study.program.tell import NO_VERDICT, tell

BESIDE = {"ratio_low": 0.91, "ratio_high": 0.97, "verdict": "cannot tell"}


def told(subject: str, quantity: str, **found: Any) -> str:
    """The text of a comparison in which these were found of one row."""
    evidence = Evidence(compare_run(Script()))
    result = analyse(evidence)
    rows = [
        replace(row, **found) if (row.subject, row.quantity) == (subject, quantity) else row
        for row in result.rows
    ]
    changed: Result = replace(result, rows=rows)
    return terminal(tell(changed, evidence))


def test_an_interval_beside_zero_without_a_verdict_has_its_reason() -> None:
    text = told("mimalloc", "wall_time", **BESIDE, note="strict interval −12.0 to +1.0 %")
    assert NO_VERDICT in text
    assert "time: mimalloc (strict interval −12.0 to +1.0 %)" in text


def test_an_interval_that_holds_zero_explains_itself() -> None:
    ends = {**BESIDE, "ratio_high": 1.03}
    assert NO_VERDICT not in told("mimalloc", "wall_time", **ends, note="strict interval")


def test_a_control_and_a_quantity_that_is_not_in_the_tables_are_not_named() -> None:
    assert NO_VERDICT not in told("glibc-control", "wall_time", **BESIDE, note="strict")
    assert NO_VERDICT not in told("mimalloc", "major_faults", **BESIDE, note="strict")


def test_no_note_says_a_thing_twice() -> None:
    """One round has too few values for an interval of the figure, and for one of the ratio."""
    noted = 0
    for rounds in (1, 2, 12):
        for row in analyse(Evidence(compare_run(Script(rounds=rounds)))).rows:
            parts = row.note.split("; ")
            assert len(parts) == len(set(parts)), row
            noted += len(parts) > 1
    assert noted > 2


def test_the_noise_forbids_smaller_differences_only_if_the_baseline_differs_from_itself() -> None:
    """A row beside a quiet A/A pair has a verdict by its own interval."""

    def noise(control: float) -> str:
        times = {"glibc": 1.0, "glibc-control": control, "jemalloc": 0.9}
        evidence = Evidence(compare_run(Script(time=times)))
        text = " ".join(terminal(tell(analyse(evidence), evidence)).split())
        return text.split("Noise ")[1]

    assert "as far as the interval of the baseline against itself reaches" in noise(1.0)
    assert "smaller differences are not claimed" in noise(1.05)
    assert "smaller differences" not in noise(1.0)
