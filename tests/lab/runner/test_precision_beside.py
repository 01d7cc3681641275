"""How well the rows of a comparison are known that goes side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import Script, compare_run
from synthetic_beside import with_rounds_beside

from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Sample
from heapwise.runner.campaign.precision import widest_half_width
from heapwise.store import StoredRun

LABELS = ("glibc", "glibc-control", "mimalloc", "jemalloc")
NARROW, WIDE = 0.002, 0.05


def measured(noise: float, *, goes_beside: bool = True) -> StoredRun:
    """Equal subjects that are known well by separate processes. noise: of the rounds side by
    side."""
    even = dict.fromkeys(LABELS, 1.0)
    stored = with_rounds_beside(
        compare_run(Script(time=even, memory=even, noise=0.0005)),
        dict.fromkeys(LABELS[1:], 1.0),
        noise=noise,
    )
    plan = stored.run.plan
    options = replace(plan.options, together_from=12 if goes_beside else None)
    return replace(stored, run=replace(stored.run, plan=replace(plan, options=options)))


def without(stored: StoredRun, subject: str, *, beside: bool, from_round: int = 0) -> StoredRun:
    """Without its samples of rounds side by side, or of the others."""

    def is_left_out(sample: Sample) -> bool:
        of_kind = (SIDE_BY_SIDE in sample.values) is beside
        return sample.subject == subject and of_kind and sample.round >= from_round

    return replace(stored, samples=[s for s in stored.samples if not is_left_out(s)])


def width(stored: StoredRun) -> float:
    found = widest_half_width(Evidence(stored))
    assert found is not None
    return found


@pytest.mark.parametrize("missing", ["mimalloc", "jemalloc"])
def test_a_row_that_was_measured_side_by_side_only_is_looked_at(missing: str) -> None:
    assert width(without(measured(0.2), missing, beside=False)) > WIDE
    assert width(without(measured(0.0005), missing, beside=False)) < NARROW


def test_a_run_that_goes_side_by_side_ends_by_those_rounds() -> None:
    assert width(measured(0.2)) > WIDE
    assert width(measured(0.2, goes_beside=False)) < NARROW


def test_a_row_that_left_the_groups_does_not_keep_the_run_going() -> None:
    stored = measured(0.0005)
    first = max(s.round for s in stored.samples if SIDE_BY_SIDE not in s.values) + 1
    left = without(stored, "jemalloc", beside=True, from_round=first + 2)
    assert width(left) < NARROW


def test_a_control_without_rounds_side_by_side_keeps_the_run_going() -> None:
    stored = without(measured(0.0005), "glibc-control", beside=True)
    assert widest_half_width(Evidence(stored)) is None
