"""The processes of a fleet run, found by the interpreter of their machine in their command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

PROGRAM = "sleep"
"""What the measured program is at last."""


def workers(python: Path) -> list[int]:
    return _found(python, "heapwise.fleet.engines.worker")


def schedulers(python: Path) -> list[int]:
    return _found(python, "heapwise.fleet.engines.scheduler")


def measuring(python: Path) -> list[int]:
    return _found(python, "heapwise.cli")


def connections(python: Path) -> list[int]:
    """The ssh of the client that carries a worker."""
    return [pid for pid, words in _commands() if str(python) in words and _program_of(pid) == "ssh"]


def programs(python: Path) -> list[int]:
    """What is being measured now."""
    above = set(measuring(python))
    return [
        pid for pid, _ in _commands() if _name_of(pid) == PROGRAM and above & set(_ancestors(pid))
    ]


def _found(python: Path, mark: str) -> list[int]:
    """Of those that have replaced the shell that starts them: the dynamic linker runs them."""
    return [
        pid
        for pid, words in _commands()
        if str(python) in words and mark in words and _program_of(pid).startswith("ld-")
    ]


def _commands() -> Iterator[tuple[int, str]]:
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                yield int(path.name), (path / "cmdline").read_text(errors="replace")
            except OSError:
                continue


def _program_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            return
        yield pid
