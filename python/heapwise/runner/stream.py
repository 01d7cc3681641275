"""One process of an experiment: its lines are taken as they come."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from heapwise.machine import read_pressure
from heapwise.runner.stop_switch import StopSwitch

LONGEST_LINE_BYTES = 1 << 20
TAIL_BYTES = 2000
GRACE_S = 5.0
"""For ending after the output was closed."""

Line = dict[str, Any]


@dataclass(frozen=True)
class Ending:
    """How the process ended; ``noise`` counts lines that were no JSON objects."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    stderr: bytes
    facts: dict[str, Any]
    noise: int = 0


def stream(
    command: Sequence[str], environment: dict[str, str], timeout_s: float, stop: StopSwitch,
    take: Callable[[Line], None], cpus: Sequence[int] = (),
) -> Ending:
    """Calls ``take`` for each line while the process runs. OSError when it cannot be started.

    Whatever ``take`` raises ends the process and goes on to the caller.
    """
    before = read_pressure()
    start = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        with _pinned(cpus):
            child = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors, env=environment, process_group=0,
            )
        stop.guard(child, group=True)
        grace_s = 0.0
        try:
            timed_out, noise = _drain(child, start + timeout_s, take)
            grace_s = 0.0 if timed_out else GRACE_S
        finally:
            _end(child, grace_s)
            stop.guard(None)
        facts = _facts(before, time.monotonic() - start)
        return Ending(*_codes(child.returncode), timed_out, _tail(errors), facts, noise)


@contextmanager
def _pinned(cpus: Sequence[int]) -> Iterator[None]:
    """A child inherits its parent's processors at the moment of its birth."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _drain(
    child: subprocess.Popen[bytes], deadline: float, take: Callable[[Line], None]
) -> tuple[bool, int]:
    """(timed out, lines that were none). Reads until the child closes its output."""
    assert child.stdout is not None
    descriptor = child.stdout.fileno()
    pending, noise = b"", 0
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return True, noise
            if not selector.select(min(left, 1.0)):
                if child.poll() is not None:
                    return False, noise
                continue
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return False, noise
            *lines, pending = (pending + piece).split(b"\n")
            noise += sum(not _give(line, take) for line in lines if line)
            pending = pending[:LONGEST_LINE_BYTES]


def _give(line: bytes, take: Callable[[Line], None]) -> bool:
    try:
        document = msgspec.json.decode(line)
    except ValueError:
        return False
    if not isinstance(document, dict):
        return False
    take(document)
    return True


def _end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """Waits a moment for a child that has closed its output, then kills its group."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(timeout=grace_s)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _facts(before: dict[str, int | None], wall_s: float) -> dict[str, Any]:
    after = read_pressure()
    facts: dict[str, Any] = {"wall_s": wall_s}
    for name, then in before.items():
        now = after.get(name)
        facts[name] = None if then is None or now is None else now - then
    return facts


def _codes(code: int) -> tuple[int | None, int | None]:
    return (code, None) if code >= 0 else (None, -code)


def _tail(errors: Any) -> bytes:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - TAIL_BYTES))
    return bytes(errors.read())


def command_of(
    binary: Path | str, subject: str, parameters: dict[str, Any], *, seed: int,
    repeats: int | None, smoke: bool,
) -> list[str]:
    """The command line of schema/README.md, section 1."""
    command = [str(binary), "--subject", subject, "--seed", str(seed)]
    for name, value in parameters.items():
        command += ["--set", f"{name}={_word(value)}"]
    if repeats is not None:
        command += ["--repeats", str(repeats)]
    return [*command, "--smoke"] if smoke else command


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
