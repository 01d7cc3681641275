"""V23: one subject of a run drifts, and the others do not."""

from __future__ import annotations

import numpy as np
from planted import verdict_of
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.store import StoredRun

ROUNDS = 30


def drifting() -> StoredRun:
    """jemalloc is as fast as glibc in some minutes, and 5 % slower in others, by its own state."""
    random = np.random.default_rng(3)
    slow = np.repeat(random.permutation([1.0, 1.05, 1.05]), ROUNDS // 3)
    return compare_run(
        Script(
            rounds=ROUNDS,
            time=dict.fromkeys(Script().time, 1.0),
            bend=lambda name, number, value: value * (slow[number] if name == "jemalloc" else 1),
        )
    )


def test_a_subject_that_drifts_alone_is_not_called_different() -> None:
    stored = drifting()
    found = verdict_of(stored, "V23")
    assert found.verdict == "warn"
    assert "jemalloc wall_time" in found.figures["drifting"]
    assert "jemalloc wall_time" in found.detail
    row = next(
        r
        for r in analyse(Evidence(stored)).rows
        if (r.subject, r.quantity) == ("jemalloc", "wall_time")
    )
    assert row.verdict == "cannot tell"
    assert "its rounds depend on the rounds before them (correlation 0." in row.note


def test_without_drift_nothing_is_withdrawn() -> None:
    found = verdict_of(compare_run(Script(rounds=ROUNDS)), "V23")
    assert found.verdict == "pass"
    assert found.figures["drifting"] == {}
