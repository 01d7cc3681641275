"""Ratios of a run to subjects that are not its baseline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heapwise.analysis.verdicts.standing import standings
from heapwise.evidence import Evidence, comparisons_of
from heapwise.store import read_run
from workshop.ratios import inverse, ratios

STORED = read_run(Path(__file__).resolve().parents[2] / "data", "749d")
BASELINE, OTHER = "malloc@glibc", "malloc@mimalloc"


@pytest.fixture(scope="module")
def found() -> Evidence:
    return Evidence(STORED)


def test_a_ratio_to_the_baseline_is_that_of_the_report(found: Evidence) -> None:
    rows = [row for row in standings(found) if OTHER in found.table[row.cell]]
    for row in rows:
        ratio, _ = comparisons_of(found).ratio((row.cell, OTHER), (row.cell, BASELINE))
        assert ratio is not None
        cost = ratio if row.quantity.better == "lower" else inverse(ratio)
        line = ratios(found, [row], OTHER, [BASELINE])[2]
        assert f" {cost.ratio:.3g}" in line
        assert cost.low is None or f"({cost.low:.3g} to {cost.high:.3g})" in line
    assert {row.quantity.better for row in rows} >= {"lower"}


def test_two_subjects_in_the_other_order_have_the_inverse(found: Evidence) -> None:
    [cell] = [row for row in standings(found) if OTHER in found.table[row.cell]][:1]
    ratio, _ = comparisons_of(found).ratio((cell.cell, OTHER), (cell.cell, BASELINE))
    assert ratio is not None
    again, _ = comparisons_of(found).ratio((cell.cell, BASELINE), (cell.cell, OTHER))
    assert again is not None
    assert inverse(ratio).ratio == pytest.approx(again.ratio)
    if ratio.low is not None:
        assert inverse(ratio).low == pytest.approx(again.low)


def test_an_unknown_subject_is_not_measured(found: Evidence) -> None:
    rows = standings(found)[:3]
    lines = ratios(found, rows, OTHER, ["malloc@nobody"])
    assert all("not measured" in line for line in lines[2:-1])
    assert lines[-1].endswith("| - |")


def test_a_run_without_samples_has_no_row() -> None:
    empty = Evidence(replace(STORED, samples=[]))
    assert len(ratios(empty, standings(empty), OTHER, [BASELINE])) == 3
