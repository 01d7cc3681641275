"""A comparison's intervals are as wide as the earlier runs of its machine ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import Script, compare_run

from heapwise.evidence import Evidence, comparisons_of, earlier_runs
from heapwise.evidence.earlier_runs import calibrate, calibration_words, scored_runs, scores_of
from heapwise.machine import read_machine
from heapwise.model import Calibration, Machine
from heapwise.stats.ratios.calibration_factor import LEAST
from heapwise.store import RunWriter, StoredRun, read_run

LABELS = ("glibc", "glibc-control", "mimalloc")


def run_with_states(state: float, seed: int) -> StoredRun:
    """A run whose labels each have a state for the whole run: its noise of rounds does not show
    it."""
    random = np.random.default_rng(seed)
    states = dict(zip(LABELS, np.exp(state * random.standard_normal(3)).tolist(), strict=True))
    memory = dict.fromkeys(LABELS, 1.0)
    return compare_run(Script(time=states, memory=memory, rounds=8, seed=seed))


def keep(store: Path, stored: StoredRun, number: int, **changes: object) -> None:
    """The run in a store, with an id of its own."""
    run = replace(stored.run, id=f"{number:04x}", created=f"2026-01-02T03:{number:02}:05Z")
    with RunWriter.create(store, replace(run, **changes)) as writer:
        for record in (*stored.processes, *stored.samples):
            writer.append(record)


def machine_of(stored: StoredRun) -> Machine:
    return stored.run.machine


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier_runs, "PATIENCE_S", 600.0)


def test_a_machine_whose_baseline_differs_from_itself_gets_wider_intervals(tmp_path: Path) -> None:
    for number in range(LEAST):
        keep(tmp_path, run_with_states(0.02, number), number)
    new = run_with_states(0.0, 99)
    known = calibrate(tmp_path, machine_of(new))
    assert known["wall_time"].runs == LEAST
    assert known["wall_time"].factor > 2
    assert set(known) <= {"wall_time", "cpu_time"}
    assert calibrate(tmp_path, machine_of(new)) == known, "the index has other scores"


def test_other_machines_and_runs_that_were_stopped_do_not_count(tmp_path: Path) -> None:
    stored = run_with_states(0.02, 1)
    for number in range(LEAST - 1):
        keep(tmp_path, run_with_states(0.02, number), number)
    keep(tmp_path, stored, 50, machine=replace(machine_of(stored), name="other"))
    keep(tmp_path, stored, 51, state="interrupted")
    assert scored_runs(tmp_path, machine_of(stored)) == LEAST - 1
    assert calibrate(tmp_path, machine_of(stored)) == {}


def test_a_start_waits_only_a_moment_for_scores_and_a_later_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = run_with_states(0.02, 1)
    keep(tmp_path, stored, 1)
    monkeypatch.setattr(earlier_runs, "PATIENCE_S", 0.0)
    assert scored_runs(tmp_path, machine_of(stored)) == 0
    monkeypatch.setattr(earlier_runs, "PATIENCE_S", 600.0)
    assert scored_runs(tmp_path, machine_of(stored)) == 1


def test_a_run_stores_the_calibration_of_its_beginning_unless_the_user_leaves_it_out(
    heapwise: Any, tmp_path: Path
) -> None:
    """A real comparison, on a machine that has earlier runs in the store."""
    here = read_machine()
    for number in range(LEAST):
        keep(tmp_path / "store", run_with_states(0.02, number), number, machine=here)
    words = ("compare", "--runs", "3", "--warmup", "0", "--allocators", "glibc,jemalloc")
    for changes, factors in (({}, True), ({"HEAPWISE_CALIBRATION": "no"}, False)):
        done = heapwise(*words, "--", "true", env=changes)
        assert done.returncode in (0, 4), done.stderr
        known = read_run(tmp_path / "store", "last").run.calibration
        assert ("wall_time" in known) is factors
        if factors:
            assert known["wall_time"].factor > 1
            assert f"{LEAST} runs of this machine" in done.stdout


def calibrated(stored: StoredRun, factor: float) -> StoredRun:
    known = {"wall_time": Calibration(20, factor)}
    return replace(stored, run=replace(stored.run, calibration=known))


def test_intervals_and_the_noise_floor_of_that_quantity_are_wider_and_no_others() -> None:
    stored = run_with_states(0.0, 3)
    plain, wider = Evidence(stored), Evidence(calibrated(stored, 1.5))
    for cell in plain.table:
        sides = (cell, "mimalloc"), (cell, "glibc")
        one, other = (comparisons_of(each).ratio(*sides)[0] for each in (plain, wider))
        if one is None or other is None:  # a count that is zero
            continue
        factor = 1.5 if cell.quantity == "wall_time" else 1.0
        for before, after in ((one.low, other.low), (one.high, other.high)):
            assert before
            assert after
            assert np.log(after / one.ratio) == pytest.approx(factor * np.log(before / one.ratio))
        assert one.strict
        assert other.strict
        assert np.log(other.strict[1] / one.ratio) == pytest.approx(
            factor * np.log(one.strict[1] / one.ratio)
        )
        floors = [comparisons_of(each).floors[cell] for each in (plain, wider)]
        assert (floors[1] > floors[0]) == (cell.quantity == "wall_time")


def test_scores_do_not_depend_on_the_calibration_that_a_run_had() -> None:
    stored = run_with_states(0.01, 4)
    assert scores_of(calibrated(stored, 3.0)) == scores_of(stored)


def test_the_user_is_told_if_intervals_are_wider_and_only_then() -> None:
    stored = run_with_states(0.0, 5)
    words = calibration_words(Evidence(calibrated(stored, 1.13)))
    assert words == "20 runs of this machine: intervals of time are 1.1 times as wide"
    assert calibration_words(Evidence(calibrated(stored, 1.0))) == ""
    assert calibration_words(Evidence(stored)) == ""
