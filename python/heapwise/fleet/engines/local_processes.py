"""Processes of the engine on this machine."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from heapwise.errors import Problem

PACKAGE_ROOT = str(Path(__file__).resolve().parents[3])
FIRST_LINE_S = 60.0
END_S = 5.0


def start_python(
    module: str, *words: str, stdout: int = subprocess.DEVNULL, folder: str = ""
) -> subprocess.Popen[bytes]:
    """Standard input stays open: the process ends when this one does. folder: where a worker
    keeps jobs unless they name a folder."""
    path = os.pathsep.join(filter(None, (PACKAGE_ROOT, os.environ.get("PYTHONPATH", ""))))
    more = {"HEAPWISE_FLEET_FOLDER": folder} if folder else {}
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path} | more,
    )


def first_line(process: subprocess.Popen[bytes]) -> str:
    """Problem E064 if it prints nothing in a minute."""
    assert process.stdout is not None
    if select.select([process.stdout], [], [], FIRST_LINE_S)[0]:
        if line := process.stdout.readline().decode().strip():
            return line
    raise Problem(
        "E064",
        "the scheduler did not start",
        do="python -m heapwise.fleet.engines.scheduler prints why",
    )


def end_all(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """All together: standard input is closed, which ends them, and those that have not ended after
    some seconds are killed, as they may be stopped."""
    for process in processes:
        if process.stdin is not None:
            process.stdin.close()
    until = time.monotonic() + END_S
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
    for process in processes:
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def is_running(process: subprocess.Popen[bytes]) -> bool:
    """False also if it is stopped: nobody would go on with it."""
    if process.poll() is not None:
        return False
    try:
        line = Path(f"/proc/{process.pid}/stat").read_text()
    except OSError:
        return False
    return line.rpartition(")")[2].split()[0] not in "TZX"
