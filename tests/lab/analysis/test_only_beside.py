"""Subjects that a busy machine left no time to measure by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import Script, compare_run
from synthetic_beside import with_rounds_beside

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Result, Row
from heapwise.study.program.compare_table import compare_tables

LABELS = ("glibc", "glibc-control", "mimalloc", "jemalloc")


@pytest.fixture(scope="module")
def result() -> Result:
    """glibc and mimalloc ran alone, all ran side by side; jemalloc needs a tenth less."""
    script = Script(time=dict.fromkeys(LABELS, 1.0), memory=dict.fromkeys(LABELS, 1.0))
    stored = compare_run(script)
    alone = [p for p in stored.processes if p.subject != "jemalloc"]
    numbers = {process.number: new for new, process in enumerate(alone)}
    left = replace(
        stored,
        processes=[replace(process, number=numbers[process.number]) for process in alone],
        samples=[
            replace(sample, process=numbers[sample.process])
            for sample in stored.samples
            if sample.process in numbers
        ],
    )
    ratios = {"glibc-control": 1.0, "mimalloc": 1.0, "jemalloc": 0.9}
    return analyse(Evidence(with_rounds_beside(left, ratios)))


def row(result: Result, quantity: str) -> Row:
    [found] = [r for r in result.rows if (r.subject, r.quantity) == ("jemalloc", quantity)]
    return found


def test_rounds_side_by_side_are_judged(result: Result) -> None:
    assert row(result, SIDE_BY_SIDE).verdict == "better"
    assert row(result, SIDE_BY_SIDE).status == "ok"


def test_the_row_of_its_time_says_how_it_was_measured(result: Result) -> None:
    found = row(result, "wall_time")
    assert (found.n, found.median, found.note) == (0, None, "measured side by side only")


def test_the_tables_have_a_line_of_it(result: Result) -> None:
    tables = compare_tables(result)
    lines = [
        [cell.text for cell in line]
        for table in tables
        for line in table.rows
        if line[0].text == "jemalloc"
    ]
    assert len(lines) == len(tables)
    assert any("% less" in text for text in lines[-1])


def test_the_advice_is_by_the_quantity_that_all_have(result: Result) -> None:
    assert "Fastest: jemalloc" in result.advice
    assert "less CPU time, side by side, than glibc" in result.advice
