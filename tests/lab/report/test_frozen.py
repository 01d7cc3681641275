"""The frozen runs, which were really measured: what their pages and figures must say."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.report import View, build_page
from heapwise.report.formats import find_formats
from heapwise.store import read_run, run_ids

DATA = Path(__file__).resolve().parents[2] / "data"
RUNS = run_ids(DATA)


def test_there_is_one_of_each_kind() -> None:
    assert {read_run(DATA, run).run.plan.kind for run in RUNS} == {"compare", "run"}


@pytest.mark.parametrize("run", RUNS)
def test_every_number_of_a_row_comes_from_the_samples(run: str) -> None:
    stored = read_run(DATA, run)
    assert stored.damaged_lines == 0
    result = analyse(Evidence(stored))
    assert result.rows
    for row in result.rows:
        if row.median is None:
            continue
        taken = [
            s.values[row.quantity]
            for s in stored.samples
            if (s.subject, s.setup) == (row.subject, row.cell.setup)
        ]
        assert set(row.values) <= set(taken)
        assert min(taken) <= (row.min or 0) <= row.median <= (row.max or 0) <= max(taken)


def test_a_busy_machine_is_not_called_good() -> None:
    for run in RUNS:
        trust = analyse(Evidence(read_run(DATA, run))).trust
        assert trust.verdict == "limited"
        assert next(c for c in trust.checks if c.id == "V13").verdict == "warn"


def test_every_allocator_was_proven_inside() -> None:
    for run in RUNS:
        checks = analyse(Evidence(read_run(DATA, run))).trust.checks
        assert next(c for c in checks if c.id == "V1").verdict == "pass"


def test_advice_does_not_name_a_winner_that_is_not_there() -> None:
    compared = next(run for run in RUNS if read_run(DATA, run).run.plan.kind == "compare")
    advice = analyse(Evidence(read_run(DATA, compared))).advice
    assert "Cannot tell yet" in advice
    assert "No allocator needs less memory than glibc" in advice


def test_the_sizes_that_a_program_asks_for_are_shown() -> None:
    compared = next(run for run in RUNS if read_run(DATA, run).run.plan.kind == "compare")
    page = build_page([View(Evidence(read_run(DATA, compared)))])
    assert "What the program asks of malloc" in page
    assert "9 to 16 B: 30,185 requests, 49.1 %" in page
    assert "malloc 61,448, realloc 27, free 61,434" in page


def test_a_pool_run_has_its_sections() -> None:
    pools = next(run for run in RUNS if read_run(DATA, run).run.plan.kind == "run")
    page = build_page([View(Evidence(read_run(DATA, pools)))])
    assert ">Ratios</h2>" in page
    assert "Latency" in page
    assert "figure scaling" in page


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", find_formats())
def test_every_format_can_be_written(run: str, name: str) -> None:
    stored = read_run(DATA, run)
    assert find_formats()[name].write(View(Evidence(stored))).endswith("\n")
