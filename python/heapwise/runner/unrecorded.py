"""Programs that a recorded program became or started, and in which the recorder was not."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from heapwise.catalog import read_elf
from heapwise.errors import CATALOGUE, Problem
from heapwise.runner.plan.preflight import is_loader, obstacle
from heapwise.runner.process.script import interpreter_chain
from heapwise.trace import OtherProgram

PARTIAL = {"E021", "E024"}
"""Obstacles with which the recorder is loaded, and sees few of the calls."""

STARTERS = {
    "sh",
    "dash",
    "bash",
    "zsh",
    "ksh",
    "busybox",
    "timeout",
    "time",
    "su",
    "runuser",
    "sudo",
    "script",
    "setsid",
    "unshare",
    "xargs",
}
"""Programs that start another one as their child and wait for it."""


@dataclass(frozen=True)
class Unrecorded:
    """name: of the program. reason: why the recorder was not in it, in words. problem: its id. way:
    how it began."""

    name: str
    reason: str
    problem: str = "E028"
    way: str = "executed"

    def as_problem(self, before: str) -> Problem:
        """before: the program that was recorded instead."""
        itself = "record the program itself, without what starts it"
        way_out = itself if self.problem == "E028" else CATALOGUE[self.problem].do
        return Problem(
            self.problem,
            f"{before} {self.way} {self.name}, which was not recorded: {self.reason}",
            why=f"The trace has the calls of {before} only.",
            do=f"{way_out}; record --force keeps the exit code",
        )


def unrecorded(other: OtherProgram) -> Unrecorded:
    """The first reason for which the recorder cannot have been in the program."""
    name = Path(other.program).name or other.program
    path = _found(other.program)
    problem = _obstacle(name, path)
    if problem is not None and problem.id not in PARTIAL:
        return Unrecorded(name, _without_name(problem.what, name), problem.id)
    if only_lists(other):
        return Unrecorded(name, "it listed the libraries of a program, and ran none of its code")
    if other.preload in ("dropped", "changed"):
        how = "without LD_PRELOAD" if other.preload == "dropped" else "with another LD_PRELOAD"
        return Unrecorded(name, f"it was started {how} in its environment")
    if other.preload == "silent":
        return Unrecorded(name, "it was started without HEAPWISE_RECORD in its environment")
    if problem is not None:
        return Unrecorded(name, _without_name(problem.what, name), problem.id)
    return Unrecorded(
        name,
        "it could not reach the recorder, as another user does, or a program "
        "in another root directory or PID namespace or with little address space, or it ended "
        "while it was loaded",
    )


def partly_recorded(program: str) -> Unrecorded | None:
    """The recorder is in the program, but its malloc is its own."""
    name = Path(program).name
    problem = _obstacle(name, _found(program))
    if problem is None or problem.id not in PARTIAL:
        return None
    return Unrecorded(name, _without_name(problem.what, name), problem.id)


def only_lists(other: OtherProgram) -> bool:
    """Whether it is the loader without the recorder, as ``ldd`` starts it: it maps a program and
    its libraries, says where they are, and ends."""
    path = _found(other.program)
    try:
        facts = read_elf(path) if path else None
    except OSError:
        return False
    return facts is not None and is_loader(facts)


def is_starter(program: str) -> bool:
    """Whether what it starts is meant, and not the program itself."""
    return Path(program).name in STARTERS


def _found(program: str) -> Path | None:
    found = program if "/" in program else shutil.which(program)
    return Path(found) if found and Path(found).is_file() else None


def _obstacle(name: str, path: Path | None) -> Problem | None:
    if path is None:
        return None
    try:
        image = interpreter_chain(path)[-1]
        return obstacle(name, image, read_elf(image, symbols=True))
    except (OSError, Problem):
        return None


def _without_name(what: str, name: str) -> str:
    return f"it{what.removeprefix(name)}" if what.startswith(name) else what
