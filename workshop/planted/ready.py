"""A program that is ready to run: prepared once, and run as often as is wanted."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from world.program import Program
from world.run import Place, execute, filled, prepare
from world.way import Start

MOST_SAID = 600
"""Characters of the reason why a program cannot be measured."""


class CannotPlant(ValueError):
    """Why nothing can be planted in a program, or it cannot be measured."""


@dataclass(frozen=True)
class Ready:
    """command: what it runs. folder: for what is built and kept. leaves_files: a second run must
    not see what the first left."""

    program: Program
    command: Sequence[str]
    folder: Path
    leaves_files: bool

    def run(self, words: Sequence[str], variables: Mapping[str, str]) -> int | None:
        """Runs these words in an empty folder. Returns: the status, as ``Done`` has it."""
        start = Start(words, dict(variables))
        return execute(start, self.program, self.empty_folder(), self.program.limit_s).status

    def empty_folder(self) -> Path:
        """Where the program runs."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        return work


def made_ready(program: Program, folder: Path) -> Ready:
    """Prepares the program in this folder, which is replaced, and runs it once. CannotPlant if that
    fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    place = Place(folder)
    prepared = prepare(program, place)
    if prepared.status != 0:
        raise CannotPlant(shortened(prepared.err))
    command = [filled(program, place, word) for word in program.command]
    work = folder / "work"
    work.mkdir()
    plain = execute(Start(command, {}), program, work, program.limit_s)
    if plain.status != program.exit:
        raise CannotPlant(shortened(f"it ended with {plain.status} by itself: {plain.err}"))
    return Ready(program, command, folder, any(work.iterdir()))


def children_cpu_s() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shortened(text: str) -> str:
    """In one line, its beginning and its end if it is long."""
    line = " ".join(text.split())
    if len(line) <= MOST_SAID:
        return line
    half = MOST_SAID // 2
    return f"{line[:half]} … {line[-half:]}"
