"""What the launcher is asked to start."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from heapwise.runner.process.launch import Launch, Outcome, launch
from heapwise.runner.process.stop_switch import StopSwitch


def test_a_program_is_looked_for_on_the_path_of_its_own_environment(
    tmp_path: Path, built_native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEAPWISE_NATIVE", str(built_native))
    tool = tmp_path / "tools" / "only-here"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 7\n")
    tool.chmod(0o755)
    environment = {"PATH": f"{tool.parent}:/usr/bin:/bin"}
    outcome = launch(Launch(["only-here"], environment, timeout_s=20), tmp_path, StopSwitch())
    assert outcome.facts.exit_code == 7, outcome.stderr


def test_a_user_who_stops_us_ends_what_each_thread_has_launched(
    tmp_path: Path, built_native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers at once have a load each."""
    monkeypatch.setenv("HEAPWISE_NATIVE", str(built_native))
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    what = Launch(["/bin/sh", "-c", "echo > ran; exec sleep 60"], {}, timeout_s=90)

    def started(folder: Path, stop: StopSwitch) -> Outcome:
        return launch(replace(what, working_directory=str(folder)), folder, stop)

    with StopSwitch() as stop, ThreadPoolExecutor(2) as threads:
        began_s = time.monotonic()
        both = [threads.submit(started, folder, stop) for folder in folders]
        while not all((folder / "ran").exists() for folder in folders):
            assert time.monotonic() - began_s < 30
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        assert all(each.result().interrupted for each in both)
    assert time.monotonic() - began_s < 40
