"""One process of an experiment: its lines are taken as they come."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from heapwise.errors import Problem
from heapwise.model import End, SampleFacts, Start, WorkCheck
from heapwise.model.cell import Setting
from heapwise.model.facts import Number
from heapwise.runner.process.launch import BACKSTOP_S, Call, Launch, Outcome
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.wording.names import plain_value

LONGEST_LINE_BYTES = 1 << 20
GRACE_S = 10.0
"""For the launcher, to end what it started and to write its result."""


class SampleLine(msgspec.Struct, frozen=True):
    """The figures of one repeat."""

    repeat: int
    values: dict[str, Number]
    facts: SampleFacts = msgspec.field(default_factory=SampleFacts)


class Refused(msgspec.Struct, frozen=True):
    """Why a subject cannot be measured in this cell."""

    what: str = ""
    reason: str = ""


NativeLine = Start | SampleLine | WorkCheck | Refused | End | None
"""None: a line that is misspelt. A line of a kind that is not known is passed over."""


class _Kind(msgspec.Struct):
    kind: str = ""


_KIND = msgspec.json.Decoder(_Kind)
_LINES: dict[str, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(type)
    for kind, type in (
        ("start", Start),
        ("sample", SampleLine),
        ("check", WorkCheck),
        ("refused", Refused),
        ("end", End),
    )
}


def stream(
    what: Launch, folder: Path, stop: StopSwitch, take: Callable[[NativeLine], None]
) -> tuple[Outcome, int]:
    """Calls ``take`` for each line while the process runs; also how many lines were not objects.

    Problem E052 when the launcher cannot do its work. Whatever ``take`` raises ends the process
    and goes on to the caller. Stopped by the user, the outcome may have no facts.
    """
    call = Call(what, folder)
    with call.start(pass_stdout=True) as launcher:
        stop.guard(launcher)
        try:
            noise = _drain(launcher, time.monotonic() + what.timeout_s + BACKSTOP_S, take)
        except BaseException:
            launcher.terminate()
            raise
        finally:
            complaint = _end(launcher)
            stop.guard()
    try:
        return call.outcome(launcher.returncode, complaint), noise
    except Problem:
        if stop.requested:  # an impatient third Ctrl-C kills the launcher
            return Outcome(interrupted=True), noise
        raise


def _drain(
    launcher: subprocess.Popen[bytes], deadline: float, take: Callable[[NativeLine], None]
) -> int:
    """Lines that were not JSON. Reads until the output is closed; the launcher keeps the time."""
    assert launcher.stdout is not None
    descriptor = launcher.stdout.fileno()
    pending, noise = b"", 0
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            ended = launcher.poll() is not None  # asked first: its last lines come before its end
            if not selector.select(0.0 if ended else 1.0):
                if ended:
                    break
                continue
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                break
            *lines, pending = (pending + piece).split(b"\n")
            noise += sum(not _give(line, take) for line in lines if line)
            pending = pending[:LONGEST_LINE_BYTES]
    return noise


def _give(line: bytes, take: Callable[[NativeLine], None]) -> bool:
    """Whether the line is an object."""
    try:
        decoder = _LINES.get(_KIND.decode(line).kind)
    except ValueError:
        return False
    if decoder is not None:
        try:
            found: NativeLine = decoder.decode(line)
        except ValueError:
            found = None
        take(found)
    return True


def _end(launcher: subprocess.Popen[bytes]) -> bytes:
    """What it had to complain about; it is killed when it does not end, and its program with it."""
    with suppress(subprocess.TimeoutExpired):
        launcher.wait(timeout=GRACE_S)
    launcher.kill()
    launcher.wait()
    return launcher.stderr.read() if launcher.stderr else b""


def command_of(
    binary: Path | str,
    subject: str,
    parameters: Mapping[str, Setting],
    *,
    seed: int,
    repeats: int | None,
    smoke: bool,
    patience: Sequence[str] = (),
) -> list[str]:
    """The command line of schema/README.md, section 1."""
    command = [str(binary), "--subject", subject, "--seed", str(seed)]
    for name, value in parameters.items():
        command += ["--set", f"{name}={plain_value(value)}"]
    if repeats is not None:
        command += ["--repeats", str(repeats)]
    return [*command, "--smoke"] if smoke else [*command, *patience]
