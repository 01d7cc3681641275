"""The state of a fleet run on the client's disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.fleet.fleet_file import FleetFile, FleetRun, MachineState, find_fleet, reopened


def begin(store: Path, id: str, created: str = "") -> FleetFile:
    return FleetFile.create(
        store,
        FleetRun(
            id,
            created,
            "hosts.toml",
            ["compare"],
            {},
            "/",
            {"a": MachineState(), "b": MachineState()},
        ),
    )


def test_last_is_what_was_begun_last_though_the_clock_went_back(tmp_path: Path) -> None:
    begin(tmp_path, "f2", "2026-01-02T00:00:00+00:00")
    newest = begin(tmp_path, "f1", "2026-01-01T00:00:00+00:00")
    older = tmp_path / "fleet/f2/fleet.json"
    older.touch()
    assert find_fleet(tmp_path, "last") == newest
    assert find_fleet(tmp_path, "f2").path == older


def test_a_change_is_a_line_and_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    file = begin(tmp_path, "f1")
    document = file.path.read_bytes()
    file.note({"a": MachineState("complete", 1)})
    with file.journal.open("ab") as journal:
        journal.write(b'{"machine": "b", "no')
    file.note({"b": MachineState("failed", 2, "why")})
    assert file.read().machines == {
        "a": MachineState("complete", 1),
        "b": MachineState("failed", 2, "why"),
    }
    assert file.path.read_bytes() == document
    assert reopened(file).read().machines["b"].state == "waiting"


def test_two_clients_do_not_collect_at_once(tmp_path: Path) -> None:
    file = begin(tmp_path, "f1")
    with file.owned() as first, file.owned() as second:
        assert (first, second) == (True, False)
    with file.owned() as again:
        assert again


def half_replaced(store: Path) -> Path:
    """A run that a client was replacing when it died: the old folder has no name any more."""
    old = store / "runs/.f1-a.old"
    old.mkdir(parents=True)
    (old / "samples.jsonl").write_text("line\n")
    return store / "runs/f1-a"


def test_a_run_that_a_dead_client_left_half_replaced_is_back(tmp_path: Path) -> None:
    file = begin(tmp_path, "f1")
    run = half_replaced(tmp_path)
    with file.owned():
        assert file.mended_runs(tmp_path) == []
    assert not run.exists()
    assert file.mended_runs(tmp_path) == ["f1-a"]
    assert (run / "samples.jsonl").read_text() == "line\n"


def test_a_fleet_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Problem) as refused:
        find_fleet(tmp_path, "last")
    assert refused.value.id == "E004"
