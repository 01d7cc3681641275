"""One part of the suite: a command, its log, its results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from suite.tally import Tally, read_junit

SIGN_OF_LIFE_S = 30
LAST_WORDS_LINES = 60


@dataclass(frozen=True)
class Part:
    """``junit``: the results that the command writes; None: the command itself is one test."""

    name: str
    command: list[str]
    junit: Path | None = None
    timeout_s: float = 900
    environment: dict[str, str] = field(default_factory=dict)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends the command and everything that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait(process: subprocess.Popen[bytes], part: Part) -> str:
    """Waits with a sign of life; what went wrong, or nothing."""
    started = time.monotonic()
    while (elapsed_s := time.monotonic() - started) < part.timeout_s:
        try:
            status = process.wait(min(SIGN_OF_LIFE_S, part.timeout_s - elapsed_s))
            return "" if status == 0 else f"exit status {status}"
        except subprocess.TimeoutExpired:
            print(f"    ... {time.monotonic() - started:.0f} s", flush=True)
    end(process)
    return f"stopped after {part.timeout_s:.0f} s"


def run_command(part: Part, log: Path) -> str:
    """Runs the command with its output in ``log``; what went wrong, or nothing."""
    environment = os.environ | part.environment
    try:
        with log.open("wb") as stream:
            process = subprocess.Popen(
                part.command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            try:
                return wait(process, part)
            except BaseException:
                end(process)
                raise
    except OSError as error:
        return f"could not be started: {error}"


def run_part(part: Part, folder: Path) -> Tally:
    """Runs a part and counts it. A part that did not run, or ended badly, has a failure."""
    print(f"==> {part.name}", flush=True)
    if part.junit:
        part.junit.unlink(missing_ok=True)
    log = folder / f"{part.name.replace(' ', '-')}.log"
    started = time.monotonic()
    trouble = run_command(part, log)
    if part.junit:
        tally = read_junit(part.junit, part.name)
        if trouble and not tally.failed:
            tally += Tally(failures=(f"{part.name}: {trouble}",))
    else:
        tally = Tally(failures=(f"{part.name}: {trouble}",)) if trouble else Tally(passed=1)
    if tally.failed:
        show_last_words(log)
    print(f"    {tally.closing_line()}   ({time.monotonic() - started:.0f} s)", flush=True)
    return tally


def show_last_words(log: Path) -> None:
    """The end of a log, for whoever cannot open it."""
    if not log.exists():
        return
    with log.open(errors="replace") as stream:
        for line in deque(stream, LAST_WORDS_LINES):
            sys.stdout.write(f"    | {line.rstrip()}\n")
    print(f"    whole log: {log}", flush=True)
