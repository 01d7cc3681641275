"""What a plan asked for, without the rounds that a busy machine made the command add."""

from __future__ import annotations

from heapwise.model import Process, Sample
from heapwise.store import StoredRun


def planned_processes(stored: StoredRun) -> list[Process]:
    """Of the planned rounds. Rounds beyond them make up for samples that a neighbour disturbed;
    tests/lab/runner/test_campaign.py tests those."""
    return [process for process in stored.processes if process.round <= _last_round(stored)]


def planned_samples(stored: StoredRun) -> list[Sample]:
    """The finished samples of the planned rounds."""
    return [sample for sample in stored.finished_samples if sample.round <= _last_round(stored)]


def _last_round(stored: StoredRun) -> int:
    plan = stored.run.plan
    return plan.max_rounds + plan.warm_up_rounds - 1
