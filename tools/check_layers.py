"""Checks that every C++ include follows the arrows of docs/architecture.md.

Every source file lives in exactly one room; a room may include the rooms that its line in ROOMS
allows. A file in no room is an error too, so a new folder has to be given its place here.

Usage: check_layers.py [ROOT]      exit 0: all arrows point left; 1: the offenders are printed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIBRARY = ("words", "source", "detail", "checking", "thread", "pool", "adapt", "observe", "hybrid",
           "heap_header", "contents")


@dataclass(frozen=True)
class Room:
    """A layer: the files whose path matches ``pattern`` may include those of ``may_use``."""

    name: str
    pattern: str
    may_use: tuple[str, ...]


BELOW_POOL = ("words", "detail", "checking", "thread")

ROOMS = (
    # What a pool is asked in and answers with: it needs nothing, so that all may speak it.
    Room("words", r"include/heapwise/(block_source|concepts|pool_options)\.hpp", ()),
    Room("detail", r"include/heapwise/detail/", ("words",)),
    Room("checking", r"include/heapwise/(checking|sanitized)\.hpp", ("words", "detail")),
    # Where memory comes from, beside the sources that everything needs.
    Room("source", r"include/heapwise/source/", ("words",)),
    Room("os", r"src/os/", ("words", "detail")),
    Room("thread", r"include/heapwise/thread/", ("words", "detail", "checking")),
    Room("pool", r"include/heapwise/(pool|typed_pool|arena)\.hpp", BELOW_POOL),
    Room("adapt", r"include/heapwise/adapt/", (*BELOW_POOL, "pool")),
    Room("observe", r"include/heapwise/observe/", (*BELOW_POOL, "pool")),
    Room("hybrid", r"include/heapwise/hybrid(\.hpp|/)", ("words", "detail")),
    Room("contents", r"include/heapwise/heapwise\.hpp", LIBRARY),
    Room("heap_header", r"include/heapwise/heap\.hpp", ("words", "detail", "c_api")),
    Room("gc_header", r"include/heapwise/gc\.hpp", ("c_api",)),
    Room("gc_redirect", r"include/heapwise/gc_redirect\.h", ("c_api",)),
    Room("c_api", r"include/heapwise/\w+\.h$", ()),
    # What the heap and the collector share: how a library reads its options and reports on stderr.
    Room("options", r"src/options/", ("os",)),
    # The heap needs nothing of the pools: it may be under everything else in the process.
    Room("heap", r"src/heap/", ("words", "detail", "os", "options", "c_api")),
    Room("gc", r"src/gc/", ("words", "detail", "os", "options", "c_api")),
    Room("override", r"src/override/", ("words", "detail", "os", "c_api", "heap")),
    Room("sources", r"src/pool/|src/arena/|src/pool\.cpp",
         (*BELOW_POOL, "source", "os", "pool", "observe", "c_api")),
    Room("hybrid_sources", r"src/hybrid/", ("words", "detail", "hybrid")),
    Room("bench", r"bench/", (*LIBRARY, "c_api")),
    Room("experiments", r"experiments/", (*LIBRARY, "c_api", "bench")),
    Room("trees", r"trees/", (*LIBRARY, "c_api")),
)

FOLDERS = ("include", "src", "bench", "experiments", "trees")
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SYSTEM_CALLS = re.compile(r"^(sys/|linux/|asm/|unistd\.h|sched\.h|pthread\.h|dlfcn\.h|fcntl\.h)")
ROOMS_WITH_SYSTEM_CALLS = {"os", "gc_redirect", "bench", "experiments"}


def room_of(path: str) -> Room | None:
    """The room of a path relative to the root, or None."""
    return next((room for room in ROOMS if re.match(room.pattern, path)), None)


def resolve(root: Path, source: Path, name: str, quoted: bool) -> str | None:
    """The included file as a path relative to ``root``, or None when it is not one of ours."""
    folders = [root / folder for folder in (*FOLDERS, "")]
    if quoted:
        folders = [folder for folder in source.parents if folder.is_relative_to(root)] + folders
    for folder in folders:
        target = (folder / name).resolve()
        if target.is_file() and target.is_relative_to(root):
            return target.relative_to(root).as_posix()
    return None


def sources(root: Path) -> Iterator[Path]:
    """Every C and C++ file of the rooms, in order."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def offences_of(root: Path, source: Path) -> Iterator[str]:
    """One sentence for each include of ``source`` that turns an arrow round."""
    path = source.relative_to(root).as_posix()
    room = room_of(path)
    if room is None:
        yield f"{path}: is in no room; give it one in tools/check_layers.py"
        return
    text = source.read_text()
    for match in INCLUDE.finditer(text):
        name = match[2]
        line = text.count("\n", 0, match.start(1)) + 1
        target = resolve(root, source, name, match[1] == '"')
        if target is None:
            if SYSTEM_CALLS.match(name) and room.name not in ROOMS_WITH_SYSTEM_CALLS:
                yield f"{path}:{line}: {room.name} makes no system calls, but includes <{name}>"
            elif match[1] == '"' or name.startswith("heapwise/"):
                yield f'{path}:{line}: "{name}" is not a file of ours'
            continue
        used = room_of(target)
        if used is None or (used != room and used.name not in room.may_use):
            whose = used.name if used else "no room"
            yield f"{path}:{line}: {room.name} may not use {whose} ({target})"


def offences(root: Path) -> list[str]:
    """All offences below ``root``."""
    root = root.resolve()
    return [line for source in sources(root) for line in offences_of(root, source)]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = offences(root)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"layers of C++: {len(list(sources(root)))} files, {len(found)} offences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
