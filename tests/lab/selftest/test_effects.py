"""An effect of known size is found, missed, or too small for the noise."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.model import Cell, Row, Settings
from heapwise.selftest.conduct import _look
from heapwise.selftest.effects import judged
from heapwise.selftest.plants import NOT_POSSIBLE, PLANTS, Plant
from heapwise.selftest.workbench import Workbench
from heapwise.trust.judge import check_modules


def row(ratio: float, low: float, high: float, verdict: str) -> Row:
    cell = Cell("selftest/known", Settings({}), "operation")
    return Row(
        "slower",
        cell,
        "ns/op",
        "lower",
        12,
        1.0,
        1.0,
        1.0,
        1.0,
        0.0,
        1.0,
        1.0,
        ratio,
        low,
        high,
        verdict=verdict,
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (row(1.10, 1.09, 1.11, "worse"), "found"),
        (row(1.10, 0.95, 1.30, "cannot tell"), "too noisy"),
        (row(0.91, 0.90, 0.92, "better"), "missed"),
        (row(1.40, 1.39, 1.41, "worse"), "missed"),
        (row(1.00, 0.999, 1.001, "no difference"), "missed"),
        (None, "missed"),
    ],
)
def test_sign_and_size_have_to_come_out(found: Row | None, outcome: str) -> None:
    assert judged("V6", "10 % more", 10, found).outcome == outcome


def test_a_check_that_stays_silent_is_missed(tmp_path: Path) -> None:
    assert (
        _look(Plant("V8", "x", lambda bench: (False, "agree")), Workbench(tmp_path)).outcome
        == "missed"
    )
    assert (
        _look(Plant("V8", "x", lambda bench: (True, "differs")), Workbench(tmp_path)).outcome
        == "found"
    )


def test_a_fault_that_the_system_refuses_is_not_possible(tmp_path: Path) -> None:
    def refused(bench: Workbench) -> tuple[bool, str]:
        raise PermissionError(1, "Operation not permitted")

    seen = _look(Plant("V10", "x", refused), Workbench(tmp_path))
    assert (seen.outcome, seen.detail) == ("not possible", "Operation not permitted")


def test_every_plant_is_for_a_check_that_exists() -> None:
    checks = {module.ID for module in check_modules()}
    assert {plant.check for plant in PLANTS} | set(NOT_POSSIBLE) <= checks
