"""What the launcher is asked to start."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.runner.process.launch import Launch, launch
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
