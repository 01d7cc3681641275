"""Where a build stands while it runs: all builds of an exact comparison at one and the same path.

A program that looks where it lies (argv[0], /proc/self/exe, the folder of a script) allocates other
numbers of bytes at other paths. So its path may not differ between two sides that are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from heapwise.model import BuildPlace

ASIDE = ".heapwise-built"
"""The program's own file has this behind its name while a layout has its path."""


@contextmanager
def standing(place: BuildPlace | None, layout: str = "") -> Iterator[None]:
    """``root`` has the path ``stands`` until this is left. Processes of one gate run one after the
    other, so one path can serve all builds. layout: the file that has the program's path in that
    time; "" for its own."""
    if place is None:
        yield
        return
    Path(place.root).rename(place.stands)
    try:
        with _exchanged(Path(place.at), layout):
            yield
    finally:
        Path(place.stands).rename(place.root)


@contextmanager
def _exchanged(program: Path, layout: str) -> Iterator[None]:
    """By names alone, so the program's own file stays as it is."""
    if not layout:
        yield
        return
    program = program.resolve()
    aside = program.with_name(f"{program.name}{ASIDE}")
    program.rename(aside)
    try:
        program.hardlink_to(layout)
        yield
    finally:
        aside.replace(program)


def layout_of(place: BuildPlace | None, round: int, *, control: bool) -> str:
    """The layout that a process of this round runs; "" for the program as it was built."""
    files = (place.control_layouts if control else place.layouts) if place else []
    return files[round % len(files)] if files else ""


def words_at(
    place: BuildPlace | None, command: Sequence[str], *, beside: bool = False
) -> list[str]:
    """The command with the path of the program while it stands; beside: while other builds run,
    too. Other words name files of the user, which stay where they are."""
    if place is None:
        return list(command)
    path = place.beside if beside else place.at
    return [path if word == place.program else word for word in command]
