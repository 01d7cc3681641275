"""What a shared machine may do to a run is not a fault of the command's."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.evidence import Evidence
from heapwise.store import read_run, run_ids
from heapwise.trust.judge import check_run

WEATHER = {"V5", "V9"}
"""They object to figures that a neighbour moved while they were taken."""


@pytest.fixture
def assert_went_well(tmp_path: Path) -> Callable[[subprocess.CompletedProcess[str]], None]:
    """Exit code 0; or 4, if nothing but noise failed in the newest run. Whether V5 and V9 object to
    what they must, and only that, is tested on known data in tests/lab/trust."""

    def check(done: subprocess.CompletedProcess[str]) -> None:
        if done.returncode != 4:
            assert done.returncode == 0, done.stderr
            return
        store = tmp_path / "store"
        checks = check_run(Evidence(read_run(store, run_ids(store)[-1]))).checks
        failed = {check.id for check in checks if check.verdict == "fail"}
        assert failed, "exit code 4, and no check failed"
        assert failed <= WEATHER, done.stdout

    return check
