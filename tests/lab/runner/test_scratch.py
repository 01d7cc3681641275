"""Folders of processes that were killed are removed; those of running ones stay."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from heapwise.runner.process.scratch import LOCK, PREFIX, ScratchFolder, sweep

OWNER = """
import sys
from heapwise.runner.process.scratch import ScratchFolder
folder = ScratchFolder()
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_the_folder_of_a_killed_process_is_removed_by_the_next_one() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout
        left = Path(owner.stdout.readline().strip())
        (left / "output").write_text("of a program")
        ScratchFolder().cleanup()
        assert left.exists()
        owner.send_signal(signal.SIGKILL)
    ScratchFolder().cleanup()
    assert not left.exists()


def test_folders_of_others_stay(base: Path) -> None:
    kept = base / f"{PREFIX}no-lock"
    kept.mkdir()
    elsewhere = base / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / LOCK).touch()
    (base / f"{PREFIX}link").symlink_to(elsewhere)
    (base / f"{PREFIX}file").touch()
    behind = base / f"{PREFIX}lock-is-a-link"
    behind.mkdir()
    (behind / LOCK).symlink_to(elsewhere / LOCK)
    sweep(base)
    assert kept.exists()
    assert (elsewhere / LOCK).exists()
    assert behind.exists()


def test_a_folder_is_private_and_goes_with_its_owner() -> None:
    with ScratchFolder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.stat().st_uid == os.getuid()
    assert not folder.exists()


def test_no_process_removes_a_folder_that_another_one_is_making(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def sweep_before_locking(file: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        sweep(base)
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", sweep_before_locking)
    with ScratchFolder() as folder:
        sweep(base)
        assert (folder / LOCK).exists()


def test_a_users_folder_of_that_name_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "heapwise-results"
    theirs.mkdir()
    for name in ("lock", "results.json"):
        (theirs / name).touch()
    sweep(tmp_path)
    assert {path.name for path in theirs.iterdir()} == {"lock", "results.json"}
