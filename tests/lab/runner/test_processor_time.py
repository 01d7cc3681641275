"""The processor time of a server while it runs: its children count, running and waited for."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapwise.study.server.processor_time import processor_s

SPENDS = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
FIRST = 1 << 22
"""No process can have this number, so none has a clock."""

STARTER = """
import os, subprocess, sys, time
subprocess.run([sys.executable, "-c", {waited!r}])
ends = "print(flush=True)\\ninput()"
running = subprocess.Popen([sys.executable, "-c", {running!r} + ends], stdout=1)
sys.stdin.read()
running.kill()
"""


def test_children_that_run_and_those_that_were_waited_for_count() -> None:
    program = STARTER.format(waited=SPENDS.format(0.3), running=SPENDS.format(0.4))
    words = [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])"]
    with subprocess.Popen(
        [*words, sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as launcher:
        assert launcher.stdout is not None
        launcher.stdout.readline()
        found = processor_s(launcher.pid)
        time.sleep(0.1)
        assert found is not None
        assert 0.68 < found < 2
        assert launcher.stdin is not None
        launcher.stdin.close()


def test_nothing_is_known_of_a_process_without_children() -> None:
    with subprocess.Popen(["sleep", "30"]) as child:
        assert processor_s(child.pid) is None
        child.kill()


@pytest.mark.parametrize("name", ["a b", "x) R 1 (y"])
def test_any_name_of_a_program_is_read(tmp_path: Path, name: str) -> None:
    fields = "0 0 0 0 0 0 0 0 0 250 150 20 30"
    for pid, parent in ((FIRST, 1), (FIRST + 1, FIRST)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} {fields} 0 0 0\n")
    assert processor_s(FIRST, tmp_path) == pytest.approx(4.0 + 0.5 + 0.5, rel=0.01)
