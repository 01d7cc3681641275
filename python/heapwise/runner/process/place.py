"""Where a build stands while it runs: all builds of an exact comparison at one and the same path.

A program that looks where it lies (argv[0], /proc/self/exe, the folder of a script) allocates other
numbers of bytes at other paths. So its path may not differ between two sides that are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from heapwise.model import BuildPlace


@contextmanager
def standing(place: BuildPlace | None) -> Iterator[None]:
    """``root`` has the path ``stands`` until this is left. Processes of one gate run one after the
    other, so one path can serve all builds."""
    if place is None:
        yield
        return
    Path(place.root).rename(place.stands)
    try:
        yield
    finally:
        Path(place.stands).rename(place.root)


def words_at(place: BuildPlace | None, command: Sequence[str]) -> list[str]:
    """The command with the path of the program while it stands. Other words name files of the user,
    which stay where they are."""
    if place is None:
        return list(command)
    return [place.at if word == place.program else word for word in command]
