"""The line that says how small a difference this machine can show."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from synthetic import Script, compare_run

from heapwise.evidence import Evidence
from heapwise.selftest.resolution import resolution
from heapwise.store import StoredRun

BEGIN = datetime(2026, 11, 28, tzinfo=UTC)


def measured_every(seconds: float, noise: float) -> StoredRun:
    stored = compare_run(Script(noise=noise))
    return replace(
        stored,
        processes=[
            replace(p, started_at=(BEGIN + timedelta(seconds=seconds * p.number)).isoformat())
            for p in stored.processes
        ],
    )


@pytest.mark.parametrize(
    ("noise", "seconds", "low", "high"),
    [
        (0.004, 1.0, 0.001, 0.004),
        (0.004, 10.0, 0.01, 0.03),
        (0.05, 1.0, 0.015, 0.05),
    ],
)
def test_noise_and_the_time_of_a_process_decide(
    noise: float, seconds: float, low: float, high: float
) -> None:
    found = resolution(Evidence(measured_every(seconds, noise)))
    assert low < found.share < high
    assert found.detail.startswith("differences of ")
    assert "in 3 minutes" in found.detail


def test_too_few_rounds_tell_nothing() -> None:
    found = resolution(Evidence(compare_run(Script(rounds=3))))
    assert found.outcome == "too noisy"
