"""Advice for programs: each sentence follows from the rows of the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synthetic import pool_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import Cell, Row, Settings
from heapwise.study.reproduce.allocator_advice import advice, advice_by_allocator, programs_of

EXPERIMENT = "heap/rl_programs"
ANY = analyse(Evidence(pool_run(rounds=6))).rows[0]


def row(subject: str, quantity: str, verdict: Any, ratio: float | None) -> Row:
    return replace(
        ANY,
        cell=Cell(EXPERIMENT, Settings({"program": "rl_x"}), quantity),
        subject=f"malloc@{subject}",
        verdict=verdict,
        ratio=ratio,
        median=1.0,
    )


def test_the_best_allocator_for_time_and_for_memory_is_named() -> None:
    rows = [
        row("glibc", "cpu", "baseline", None),
        row("a", "cpu", "better", 0.9),
        row("b", "cpu", "better", 0.8),
        row("b", "peak_resident", "worse", 1.2),
        row("a", "peak_resident", "better", 0.75),
    ]
    [found] = programs_of(rows, EXPERIMENT).values()
    said = advice(found)
    assert "For time take b: 20" in said
    assert "For peak memory take a: 25" in said


def test_each_allocator_but_the_baseline_has_its_sentence() -> None:
    rows = [
        row("glibc", "cpu", "baseline", None),
        row("a", "cpu", "better", 0.9),
        row("b", "cpu", "better", 0.8),
        row("b", "peak_resident", "worse", 1.2),
        row("c", "cpu", "no difference", 1.0),
        row("d", "after_idle", "worse", 3.0),
        row("e", "cpu", "cannot tell", 1.0),
        row("glibc-control", "cpu", "no difference", 1.0),
    ]
    [found] = programs_of(rows, EXPERIMENT).values()
    said = dict(advice_by_allocator(found))
    assert list(said) == ["a", "b", "c", "d", "e"]
    assert said["a"].endswith("less processor time than glibc. Take it.")
    assert "more peak memory than glibc. It is a trade." in said["b"]
    assert said["c"] == "No difference from glibc was shown."
    assert said["d"].endswith("Do not take it.")
    assert said["e"] == "This run cannot tell."


def test_nothing_is_advised_where_nothing_was_shown() -> None:
    assert advice([row("a", "cpu", "no difference", 1.0)]).startswith("Stay with glibc")
    assert "cannot tell" in advice([row("a", "cpu", "cannot tell", 0.5)])
    assert programs_of([row("a", "cpu", "better", 0.5)], "heap/real_programs") == {}
