"""The files that decide what is measured: figures of two different programs are not one result."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import Experiment, FileState, Plan
from heapwise.runner.campaign.steps import cells
from heapwise.runner.process.loadable_files import loadable_beside
from heapwise.runner.process.script import find_program, interpreter_chain

WHOLE_BYTES = 256 << 20
"""For a larger file, only size, beginning and end are compared: inputs can be of any size."""

PART_BYTES = 1 << 20

BESIDE = "beside "
"""Files that a program may load. They are compared only if a run goes on later: a command that
prepares a process may build them again before each.
"""


def files_of(plan: Plan, experiments: Sequence[Experiment]) -> dict[str, str]:
    """What each file is in the plan -> its path."""
    found: dict[str, str] = {}
    for what, started in _programs(plan, experiments).items():
        for place, file in enumerate(interpreter_chain(find_program(started))):
            found[f"interpreter {place}{what}" if place else f"program{what}"] = str(file)
    if plan.input_path:
        found["input"] = plan.input_path
    if replay := plan.options.replay:
        found["script"] = replay.script
        for candidate in replay.candidates:
            found[f"script of {candidate.subject}"] = candidate.script
    for subject in plan.subjects:
        if subject.peer and subject.peer.path:
            found[f"allocator {subject.peer.name}"] = subject.peer.path
    for experiment in experiments:
        if experiment.binary:
            found[f"experiment {experiment.id}"] = experiment.binary
        for program in experiment.programs:
            for name in program.executables if not program.status else ():
                found[f"{name} of {program.name}"] = str(find_program(name))
        for spec in experiment.subjects:
            if spec.command and (path := shutil.which(spec.command[0])):
                found[f"program of {spec.name}"] = path
    return found


def loadable_files(plan: Plan, experiments: Sequence[Experiment]) -> dict[str, str]:
    """Like ``files_of``: what each program may load from beside it. Empty if a command of the user
    may make these files."""
    if any(
        build.prepare or build.conclude or build.setup or build.cleanup
        for build in plan.measured_builds
    ):
        return {}
    return {
        f"{BESIDE}{path}": str(path)
        for started in _programs(plan, experiments).values()
        for path in loadable_beside(find_program(started))
        if path.is_file() and os.access(path, os.R_OK)
    }


def _programs(plan: Plan, experiments: Sequence[Experiment]) -> dict[str, str]:
    """What tells it from the others -> each program that a comparison starts. A program's name can
    depend on the settings of a cell."""
    found: dict[str, str] = {}
    for build in plan.measured_builds:
        programs = {
            build.started(cell)[0] for experiment in experiments for cell in cells(experiment, plan)
        } or {build.program}
        for program in sorted(programs):
            which = f" of {build.name}" if build.name else ""
            found[f"{which}: {program}" if len(programs) > 1 else which] = program
    return found


def read_states(paths: dict[str, str]) -> dict[str, FileState]:
    """Problem E032 if one is gone."""
    return {what: _state(path) for what, path in paths.items()}


@dataclass
class Unchanged:
    """The files of one run, as they were when it began. ``moved``: where some of them are now."""

    states: dict[str, FileState]
    moved: dict[str, str] = field(default_factory=dict)

    def demand(self, *, beside: bool = False) -> None:
        """Problem E032 if one of them has other contents. Cheap while nobody writes them. beside:
        also what the programs may load."""
        for what, known in self.states.items():
            if what.startswith(BESIDE) and not beside:
                continue
            path = self.moved.get(what, known.path)
            if _stamp(path) == (path, known.size, known.mtime_ns):
                continue
            now = _state(path)
            if not now.sha256 or (now.size, now.sha256) != (known.size, known.sha256):
                raise Problem(
                    "E032",
                    f"{path} is not the file that was measured before: it has "
                    f"{now.size} bytes and other contents, and had {known.size} bytes",
                )
            self.states = self.states | {what: now}


def _stamp(path: str) -> tuple[str, int, int]:
    try:
        status = Path(path).stat()
    except OSError as error:
        raise Problem("E032", f"{path} is gone: {error.strerror}") from error
    return path, status.st_size, status.st_mtime_ns


def _state(path: str) -> FileState:
    _, size, mtime_ns = _stamp(path)
    return FileState(path, size, mtime_ns, _digest(path, size))


def _digest(path: str, size: int) -> str:
    try:
        with Path(path).open("rb") as file:
            if size <= WHOLE_BYTES:
                return hashlib.file_digest(file, "sha256").hexdigest()
            ends = file.read(PART_BYTES)
            file.seek(-PART_BYTES, os.SEEK_END)
            return hashlib.sha256(ends + file.read(PART_BYTES)).hexdigest()
    except PermissionError:
        return ""
    except OSError as error:
        raise Problem("E032", f"{path} cannot be read: {error.strerror}") from error
