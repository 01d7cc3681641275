"""Processor time beside others that differs from that of separate processes."""

from __future__ import annotations

import pytest
from synthetic import Script, compare_run
from synthetic_beside import with_rounds_beside

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Result, Row

LABELS = ("glibc", "glibc-control", "mimalloc", "jemalloc")


def result(beside: float) -> Result:
    """jemalloc needs as much as glibc alone, and ``beside`` times as much under load."""
    script = Script(
        time=dict.fromkeys(LABELS, 1.0) | {"mimalloc": 0.98},
        memory=dict.fromkeys(LABELS, 1.0),
        noise=0.012,
    )
    ratios = {"glibc-control": 1.0, "mimalloc": 0.98, "jemalloc": beside}
    return analyse(Evidence(with_rounds_beside(compare_run(script), ratios)))


def row(found: Result, subject: str) -> Row:
    return next(r for r in found.rows if r.quantity == SIDE_BY_SIDE and r.subject == subject)


@pytest.mark.parametrize("beside", [0.94, 1.06])
def test_a_ratio_that_is_another_under_load_is_told(beside: float) -> None:
    found = result(beside)
    assert "it depends on what runs beside it" in row(found, "jemalloc").note
    assert "it depends" not in row(found, "mimalloc").note
    assert "which share the caches, CPU time differs: jemalloc" in found.advice
    assert found.advice.count("alone") == 1


def test_one_that_is_the_same_is_not_mentioned() -> None:
    found = result(1.0)
    assert row(found, "jemalloc").verdict in ("no difference", "cannot tell")
    assert "it depends" not in row(found, "jemalloc").note
    assert "Beside other processes" not in found.advice
