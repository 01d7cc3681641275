"""The dynamic loader as a program: it runs another one, or only lists its libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heapwise.catalog import read_elf
from heapwise.trace import open_trace

RECORD = (sys.executable, "-m", "heapwise", "record")


def loader() -> str:
    facts = read_elf("/bin/ls")
    assert facts is not None
    return facts.interpreter


def record(trace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RECORD, "-o", str(trace), "--", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )


def test_a_program_that_the_loader_runs_is_recorded(tmp_path: Path) -> None:
    done = record(tmp_path / "by.hwt", loader(), "/bin/ls", "/")
    assert done.returncode == 0, done.stderr
    with open_trace(tmp_path / "by.hwt") as trace:
        assert sum(int(events.makes.sum()) for events in trace.events()) > 10


@pytest.mark.skipif(not Path("/usr/bin/ldd").exists(), reason="ldd is not here")
def test_libraries_that_are_only_listed_do_not_fail_a_recording(tmp_path: Path) -> None:
    done = record(tmp_path / "ldd.hwt", "ldd", "/bin/ls")
    assert done.returncode == 0, done.stderr
    assert "libc.so.6" in done.stdout
    assert "listed the libraries of a program" in done.stdout + done.stderr
