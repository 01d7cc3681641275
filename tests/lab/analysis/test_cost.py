"""Analysis arranges samples once, and its work grows like the run, not like the run's square."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from large_run import write_copies
from synthetic import pool_run

from heapwise.analysis import analyse
from heapwise.analysis.verdicts import standing
from heapwise.evidence import Evidence, comparisons, evidence
from heapwise.report import View, build_page
from heapwise.store import StoredRun, read_run


def test_samples_are_filtered_and_arranged_once_for_the_result_and_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: Counter[str] = Counter()

    def counting(module: Any, name: str) -> None:
        real = getattr(module, name)

        def counted(*arguments: Any) -> Any:
            calls[name] += 1
            return real(*arguments)

        monkeypatch.setattr(module, name, counted)

    for name in ("candidates", "filter_samples", "tabulate"):
        counting(evidence, name)
    counting(comparisons, "claims_of")
    counting(standing, "_standings")
    view = View(Evidence(pool_run()))
    assert view.result.rows
    build_page([view])
    once = {"candidates": 1, "filter_samples": 1, "tabulate": 1, "_standings": 1}
    assert calls == {**once, "claims_of": len(view.evidence.table)}


def calls_of(function: Callable[[], object]) -> int:
    """How many functions it calls: work that no neighbour changes."""
    found = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal found
        found += event == "call"

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def run_of(copies: int, place: Path) -> StoredRun:
    return read_run(write_copies(place / str(copies), copies), "last")


def test_four_times_as_many_experiments_are_four_times_the_work(tmp_path: Path) -> None:
    small, large = (run_of(copies, tmp_path) for copies in (3, 12))
    analyse(Evidence(small))  # what is imported, and kept for all runs
    calls = [calls_of(lambda run=run: analyse(Evidence(run))) for run in (small, large)]
    assert calls[1] < 4.1 * calls[0]
