"""The commands of ``--setup``: all of them run before the first process, so none may undo
another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import Build, FileState, Setting, filled
from heapwise.runner.campaign.measured_files import read_states
from heapwise.runner.plan.builds import Parameters, cells_of
from heapwise.runner.process.commands import Commands
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.script import find_program, interpreter_chain
from heapwise.runner.process.stop_switch import StopSwitch

States = dict[str, FileState]


@dataclass(frozen=True)
class EarlySetup:
    """clean_up: runs the commands of --cleanup, for a run that does not begin. parameters: without
    the values whose --setup failed. left_out: a sentence on each of those."""

    clean_up: Callable[[], list[str]]
    parameters: Parameters
    left_out: list[str]


def set_up_early(
    builds: Sequence[Build], parameters: Parameters, environment: dict[str, str], timeout_s: float
) -> EarlySetup:
    """Before the programs are looked at, which the commands may make. Problem E034, after the
    commands of --cleanup; KeyboardInterrupt if it is stopped.

    A value is left out if --setup fails at it for some command, whatever the other parameters are,
    and works at another value.
    """
    folder = ScratchFolder()
    every = [
        Commands(build, cell, environment, str(Path.cwd()), folder.path, timeout_s)
        for build in builds
        for cell in cells_of(parameters)
    ]

    def clean_up() -> list[str]:
        return [words for commands in every if (words := commands.cleanup())]

    try:
        with StopSwitch() as stop:
            failed = set_up(every, stop)
        if stop.requested:
            raise KeyboardInterrupt
        left, left_out = _without(parameters, failed)
    except BaseException:
        clean_up()
        raise
    return EarlySetup(clean_up, left, left_out)


Failed = list[tuple[Commands, Problem]]


def _without(parameters: Parameters, failed: Failed) -> tuple[Parameters, list[str]]:
    """Problem E034 if no value alone explains the failures, or if none is left."""
    left, left_out = {name: list(values) for name, values in parameters.items()}, []
    for commands, problem in failed:
        if not _remains(commands.cell, left):
            continue
        for name, value in commands.cell.items():
            cells = [cell for cell in cells_of(parameters) if cell[name] == value]
            fails = [each.cell for each, _ in failed if each.build == commands.build]
            if len(left[name]) > 1 and all(cell in fails for cell in cells):
                left[name].remove(value)
                left_out.append(f"{name}={value} is left out: {problem.what}")
                break
        else:
            raise problem
    return left, left_out


def _remains(cell: Mapping[str, Setting], parameters: Parameters) -> bool:
    return all(value in parameters[name] for name, value in cell.items())


def set_up(every: Iterable[Commands], stop: StopSwitch) -> Failed:
    """Those whose command failed. Problem E034 if one changes what another one made."""
    by_text: dict[str, tuple[Commands, States]] = {}
    failed: Failed = []
    for commands in every:
        if stop.requested:
            return failed
        try:
            commands.setup(stop)
        except Problem as problem:
            failed.append((commands, problem))
            continue
        if commands.build.setup:
            by_text[filled(commands.build.setup, commands.cell)] = commands, _files_of(commands)
    if len(by_text) < 2:
        return failed
    for commands, states in by_text.values():
        now = _files_of(commands)
        for path, state in states.items():
            if path not in now or now[path].sha256 != state.sha256:
                raise _overwritten(path, commands)
    return failed


def _files_of(commands: Commands) -> States:
    """The program that is started, and the files that words of its command name."""
    words = commands.build.started(commands.cell)
    paths: list[Path] = []
    with suppress(Problem):  # the examination of the programs says it
        paths += interpreter_chain(find_program(words[0]))
    place = Path(commands.working_directory)
    paths += [place / word for word in words[1:]]
    return read_states({str(path): str(path) for path in paths if _is_file(path)})


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _overwritten(path: str, commands: Commands) -> Problem:
    setup = filled(commands.build.setup, commands.cell)
    where = " ".join(f"{name}={value}" for name, value in commands.cell.items())
    names = "".join(f"-{{{name}}}" for name in commands.cell) or f"-{commands.build.name}"
    return Problem(
        "E034",
        f"{path} is not what --setup {setup} made: a later --setup changed it",
        why="All commands of --setup run before the first process. So "
        f"{where or commands.build.name} would be measured with what the last one made.",
        do="give each setting a file of its own, in --setup and in the command, for example "
        f"{Path(path).name}{names}",
    )
