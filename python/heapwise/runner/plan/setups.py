"""The commands of ``--setup``: all of them run before the first process, so none may undo
another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import Build, FileState, filled
from heapwise.runner.campaign.measured_files import read_states
from heapwise.runner.plan.builds import Parameters, cells_of
from heapwise.runner.process.commands import Commands
from heapwise.runner.process.scratch import ScratchFolder
from heapwise.runner.process.script import find_program, interpreter_chain
from heapwise.runner.process.stop_switch import StopSwitch

States = dict[str, FileState]


def set_up_early(
    builds: Sequence[Build], parameters: Parameters, environment: dict[str, str], timeout_s: float
) -> Callable[[], list[str]]:
    """Before the programs are looked at, which the commands may make. Problem E034, after the
    commands of --cleanup; KeyboardInterrupt if it is stopped.

    Returns what runs the commands of --cleanup, for a run that does not begin.
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
            set_up(every, stop)
        if stop.requested:
            raise KeyboardInterrupt
    except BaseException:
        clean_up()
        raise
    return clean_up


def set_up(every: Iterable[Commands], stop: StopSwitch) -> None:
    """Problem E034 if a command fails, or if one changes what another one made."""
    by_text: dict[str, tuple[Commands, States]] = {}
    for commands in every:
        if stop.requested:
            return
        commands.setup(stop)
        if commands.build.setup:
            by_text[filled(commands.build.setup, commands.cell)] = commands, _files_of(commands)
    if len(by_text) < 2:
        return
    for commands, states in by_text.values():
        now = _files_of(commands)
        for path, state in states.items():
            if path not in now or now[path].sha256 != state.sha256:
                raise _overwritten(path, commands)


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
