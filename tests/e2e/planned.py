"""The planned part of a run with a fixed number of rounds.

On a busy machine the command adds rounds for samples that a neighbour disturbed. A test that counts
rounds leaves those out; tests/lab/runner/test_make_up.py tests them.
"""

from __future__ import annotations

from heapwise.model import Process, Sample
from heapwise.store import StoredRun


def planned_processes(stored: StoredRun) -> list[Process]:
    """The processes of the planned rounds, so without those whose calls are counted."""
    return [process for process in stored.processes if 0 <= process.round <= _last_round(stored)]


def planned_samples(stored: StoredRun) -> list[Sample]:
    """The finished samples of the planned rounds."""
    return [
        sample for sample in stored.finished_samples if 0 <= sample.round <= _last_round(stored)
    ]


def _last_round(stored: StoredRun) -> int:
    plan = stored.run.plan
    assert plan.max_rounds, "the run was planned by time"
    return plan.max_rounds + plan.warm_up_rounds - 1
