"""Runs one command and says what it cost."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Seconds, in bytes what it printed."""

    wall: float
    processor: float
    output: bytes


def run(command: Sequence[str | Path], folder: Path, *, standard_input: Path | None = None,
        environment: dict[str, str] | None = None) -> Cost:
    """Raises CalledProcessError with what the command said. processor: with all its children."""
    with (standard_input or Path(os.devnull)).open("rb") as source, \
            (folder / "errors.txt").open("w+b") as errors, \
            (folder / "out.txt").open("w+b") as output:
        began, before = time.monotonic(), os.times()
        done = subprocess.run(list(map(str, command)), cwd=folder, stdin=source, stdout=output,
                              stderr=errors, env={**os.environ, **(environment or {})})
        wall, after = time.monotonic() - began, os.times()
        if done.returncode != 0:
            errors.seek(0)
            raise subprocess.CalledProcessError(done.returncode, done.args,
                                                stderr=errors.read()[-2000:])
        output.seek(0)
        printed = output.read(1000)
    processor = (after.children_user + after.children_system
                 - before.children_user - before.children_system)
    return Cost(wall, processor, printed)
