"""A process that was started with its recorder in a pause is recorded for a while."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void *leak(void) { return malloc(4096); }
int main(void) {
  printf("%d\\n", getpid());
  fflush(stdout);
  for (;;) { void *volatile kept = leak(); usleep(1000); }
}
"""


@contextmanager
def paused_program(folder: Path, environment: dict[str, str], *words: str) -> Iterator[int]:
    """The number of its process."""
    (folder / "p.c").write_text(SOURCE)
    flags = ["-O1", "-g", "-fno-optimize-sibling-calls", "-Wno-unused"]
    subprocess.run(["cc", *flags, "-o", folder / "p", folder / "p.c"], check=True, timeout=60)
    command = [sys.executable, "-m", "heapwise", "record", "--start-paused", *words]
    with subprocess.Popen(
        [*command, "-o", "live.hwt", "--", "./p"],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
    ) as recorder:
        assert recorder.stdout is not None
        process = int(recorder.stdout.readline())
        try:
            yield process
        finally:
            os.kill(process, signal.SIGKILL)
            recorder.wait(60)


@pytest.mark.parametrize("words", [["--profile", "--sample-every", "4k"], []])
def test_a_living_process_is_recorded_and_looked_at_while_it_runs(
    heapwise: Any, tmp_path: Path, environment: dict[str, str], words: list[str]
) -> None:
    trace = tmp_path / "live.hwt"
    with paused_program(tmp_path, environment, *words) as process:
        done = heapwise("record", "--attach", str(process), "--for", "500ms", "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert Path(found["trace"]) == trace
        assert found["seconds"] >= 0.5
        said = heapwise("trace", str(trace)).stdout
        assert "is still being recorded" in " ".join(said.split())
        assert "leak (p.c:4)" in said
        kept = trace.stat().st_size
        time.sleep(0.3)
        assert trace.stat().st_size == kept, "it is paused again"
        again = heapwise("record", "--attach", str(process), "--for", "200ms", "--json")
        assert json.loads(again.stdout)["bytes"] > kept


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_recording_and_the_process_runs_on(
    heapwise: Any, tmp_path: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    trace = tmp_path / "live.hwt"
    with paused_program(tmp_path, environment) as process:
        code, said = attached_until(number, process, tmp_path, environment)
        kept = trace.stat().st_size
        time.sleep(0.3)
        assert heapwise("record", "--pause", str(process)).returncode == 0
        time.sleep(0.3)
        assert trace.stat().st_size == kept, "it was not paused: the rest is written only now"
        assert code == 0, said
        assert json.loads(said)["bytes"] == kept
        os.kill(process, 0)


def attached_until(
    number: signal.Signals, process: int, folder: Path, environment: dict[str, str]
) -> tuple[int, str]:
    """The exit code and the document of a command that records this process for a second, and then
    gets the signal."""
    with subprocess.Popen(
        [sys.executable, "-m", "heapwise", "record", "--attach", str(process), "--json"],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
        text=True,
    ) as attaching:
        try:
            until = time.monotonic() + 30
            while not catches_sigterm(attaching.pid) and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(1)
            attaching.send_signal(number)
            said = attaching.communicate(timeout=60)[0]
        finally:
            attaching.kill()
    return attaching.returncode, said


def catches_sigterm(process: int) -> bool:
    """Only a command that records does."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def test_a_process_without_the_recorder_is_refused_with_the_reason(heapwise: Any) -> None:
    done = heapwise("record", "--attach", str(os.getpid()), "--for", "1s")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "runs without the recorder" in said
    assert "--start-paused" in said
    assert f"heapwise watch {os.getpid()}" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile", "--sample-every", "0"], "--sample-every 0 is below 64"),
        (["--pause", str(os.getpid())], "are for a process that runs, and start no program"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused_before_the_program_starts(
    heapwise: Any, tmp_path: Path, words: list[str], said: str
) -> None:
    done = heapwise("record", *words, "-o", "x.hwt", "--", "touch", "started")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "started").exists()
