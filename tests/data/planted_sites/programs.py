"""The programs of this folder: what is planted in each, and how it is built.

As a command it builds all of them, and their changed forms, into the folder that it is given.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
ROOT = SOURCES.parents[2]
LIBRARY = ROOT / "build" / "release" / "src" / "libheapwise.a"


@dataclass(frozen=True)
class Planted:
    """policy: of the candidate that should be first; "" if nothing is to gain. sites: functions
    that allocate the blocks, or that call what does; one of them is enough. threads: are there
    several?"""

    name: str
    policy: str
    sites: tuple[str, ...] = ()
    threads: bool = False


PROGRAMS = [
    Planted("queue", "unsynchronized", ("main", "make_node")),
    Planted("messages", "unsynchronized", ("make_message", "main")),
    Planted(
        "index",
        "unsynchronized",
        (
            "make_node",
            "allocate",
            "main",
            "_M_get_node",
            "_M_create_node",
            "emplace",
            "_M_emplace_unique",
        ),
    ),
    Planted("strings", "sized", ("make_text", "main")),
    Planted("requests", "arena", ("make_part", "main")),
    Planted(
        "parser", "arena", ("parse", "make_number", "make_name", "make_text", "make_operation")
    ),
    Planted("hand_over", "thread_cached", ("make_item", "main"), threads=True),
    Planted("short_threads", "", threads=True),
    Planted("compute", ""),
    Planted("growing", ""),
]


def build(name: str, folder: Path, *, changed: bool, library: Path = LIBRARY) -> Path:
    """The program, or the one that has what should be advised. Library: of the pools and arenas."""
    program = folder / (f"{name}-changed" if changed else name)
    more = ["-DPLANTED", f"-I{ROOT / 'include'}", str(library)] if changed else []
    subprocess.run(
        [
            "c++",
            "-O2",
            "-g",
            "-std=c++20",
            "-pthread",
            str(SOURCES / f"{name}.cpp"),
            *more,
            "-o",
            str(program),
        ],
        check=True,
    )
    return program


def is_planted(place: str, program: Planted) -> bool:
    """Whether places as `heapwise advise` names them, joined by "and", are of a planted site."""
    functions = [each.rpartition(" (")[0] for each in place.split(" and ")]
    return any(name in function for name in program.sites for function in functions)


if __name__ == "__main__":
    for each in PROGRAMS:
        for changed in (False, True):
            build(each.name, Path(sys.argv[1]), changed=changed)
