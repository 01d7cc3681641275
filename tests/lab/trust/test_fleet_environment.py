"""V20 in a fleet: what the engine sets must not arrive in measured processes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted import compare, verdict_of

from heapwise.model import FleetOrigin
from heapwise.store import StoredRun

SHELL = {"PATH": "/usr/bin", "HOME": "(not stored)", "OMP_NUM_THREADS": "8"}


def of_a_fleet(arrived: dict[str, str]) -> StoredRun:
    stored = compare()
    plan = replace(
        stored.run.plan,
        environment=arrived,
        options=replace(stored.run.plan.options, fleet=FleetOrigin("f1", "a", SHELL)),
    )
    return replace(stored, run=replace(stored.run, plan=plan))


def test_the_environment_of_the_client_passes() -> None:
    assert verdict_of(of_a_fleet(SHELL), "V20").verdict == "pass"


@pytest.mark.parametrize(
    "planted",
    [
        {"MALLOC_TRIM_THRESHOLD_": "65536"},
        {"OMP_NUM_THREADS": "1"},
        {"MKL_NUM_THREADS": "(not stored)"},
        {"OPENBLAS_NUM_THREADS": "1"},
    ],
)
def test_a_variable_of_the_engine_fails(planted: dict[str, str]) -> None:
    check = verdict_of(of_a_fleet(SHELL | planted), "V20")
    assert check.verdict == "fail"
    assert next(iter(planted)) in check.detail
