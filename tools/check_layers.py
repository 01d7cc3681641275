"""Checks that every C++ include is a dependency that docs/architecture.md allows.

Every source file is part of exactly one package. A package may include those that its line in
PACKAGES allows. A file that is part of no package is an error, so a new folder needs a line here.

Usage: check_layers.py [ROOT]        exit 0: no offence; 1: the offences are printed
       check_layers.py --markdown    the table of docs/architecture.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIBRARY = (
    "interface",
    "source",
    "detail",
    "checking",
    "thread",
    "pool",
    "adapt",
    "observe",
    "heap_header",
    "contents",
)


@dataclass(frozen=True)
class Package:
    """A layer: the files whose path matches ``pattern`` may include those of ``may_use``."""

    name: str
    pattern: str
    may_use: tuple[str, ...]


BELOW_POOL = ("interface", "detail", "checking", "thread")

#: The folders of the heap and of the collector. Each may use those before it: src/heap/README.md,
#: src/gc/README.md.
HEAP = ("base", "space", "checks", "central", "cache", "large", "purge", "faults", "front")
COLLECTOR = (
    "base",
    "space",
    "state",
    "checks",
    "threads",
    "roots",
    "mark",
    "attachments",
    "collect",
    "front",
)
BELOW_BOTH = ("interface", "detail", "os", "options")


def ordered(part: str, folders: tuple[str, ...], always: tuple[str, ...] = ()) -> Iterator[Package]:
    """One for each folder of a part. Only the uppermost one knows the interface in C, unless
    ``always`` has it."""
    below = (*BELOW_BOTH, *always)
    for folder in folders:
        name = f"{part}_{folder}"
        is_front = folder == folders[-1] and "c_api" not in below
        yield Package(name, f"src/{part}/{folder}/", (*below, "c_api") if is_front else below)
        below = (*below, name)


#: The rooms of the launcher and of the drain.
BENCH_ROOMS = (
    "launcher_facts",
    "launcher_memory",
    "launcher_calls",
    "launcher_start",
    "drain_frames",
    "drain_calls",
    "drain_rings",
    "drain_processes",
)

PACKAGES = (
    # The types in which a pool is asked and answers. They need nothing, so all may use them.
    Package(
        "interface", r"include/heapwise/(block_source|concepts|pool_options|standard)\.hpp", ()
    ),
    Package("detail", r"include/heapwise/detail/", ("interface",)),
    Package("checking", r"include/heapwise/(checking|sanitized)\.hpp", ("interface", "detail")),
    # Where memory comes from, beside the sources that everything needs.
    Package("source", r"include/heapwise/source/", ("interface",)),
    # The system: what any part may ask, what only the collector asks, and what only reports ask.
    Package("os_collector", r"src/os/collector/", ("interface", "detail")),
    Package("os_reports", r"src/os/reports/", ("interface", "detail")),
    Package("os", r"src/os/", ("interface", "detail", "os_collector", "os_reports")),
    Package("thread", r"include/heapwise/thread/", ("interface", "detail", "checking")),
    Package("pool", r"include/heapwise/(pool|typed_pool|arena)\.hpp", BELOW_POOL),
    Package("adapt", r"include/heapwise/adapt/", (*BELOW_POOL, "pool")),
    Package("observe", r"include/heapwise/observe/", (*BELOW_POOL, "pool")),
    Package("hybrid", r"include/heapwise/hybrid(\.hpp|/)", ("interface", "detail")),
    Package("contents", r"include/heapwise/heapwise\.hpp", LIBRARY),
    Package("heap_header", r"include/heapwise/heap\.hpp", ("interface", "detail", "c_api")),
    Package("gc_header", r"include/heapwise/gc\.hpp", ("detail", "c_api")),
    Package("gc_redirect", r"include/heapwise/gc_redirect\.h", ("c_api",)),
    Package("c_api", r"include/heapwise/\w+\.h$", ()),
    # What the heap and the collector share: how a library reads its options and reports on stderr.
    Package("options", r"src/options/", ("os",)),
    # The heap needs nothing of the pools: it may be under everything else in the process.
    *ordered("heap", HEAP, always=("os_reports",)),
    # Callbacks and options of the program have types of the interface in C.
    *ordered("gc", COLLECTOR, always=("c_api", "os_collector")),
    # Names of the C library that make system calls, for the program and not for the heap.
    Package("process", r"src/process/", ("os", "heap_base", "heap_purge", "heap_front")),
    Package(
        "override",
        r"src/override/",
        (
            "interface",
            "detail",
            "os",
            "c_api",
            "heap_base",
            "heap_cache",
            "heap_purge",
            "heap_front",
        ),
    ),
    Package(
        "sources", r"src/(pool|arena)/", (*BELOW_POOL, "source", "os", "pool", "observe", "c_api")
    ),
    Package("hybrid_sources", r"src/hybrid/", ("interface", "detail", "hybrid", "os")),
    Package("launcher_facts", r"bench/launcher/facts/", (*LIBRARY, "c_api", "bench")),
    Package(
        "launcher_memory", r"bench/launcher/memory/", (*LIBRARY, "c_api", "launcher_facts", "bench")
    ),
    Package(
        "launcher_calls", r"bench/launcher/calls/", (*LIBRARY, "c_api", "launcher_facts", "bench")
    ),
    Package(
        "launcher_start",
        r"bench/launcher/start/",
        (*LIBRARY, "c_api", "launcher_facts", "launcher_memory", "launcher_calls", "bench"),
    ),
    Package("drain_frames", r"bench/drain/frames/", (*LIBRARY, "c_api", "bench")),
    Package("drain_calls", r"bench/drain/calls/", (*LIBRARY, "c_api", "drain_frames", "bench")),
    Package(
        "drain_rings",
        r"bench/drain/rings/",
        (*LIBRARY, "c_api", "drain_frames", "drain_calls", "bench"),
    ),
    Package(
        "drain_processes",
        r"bench/drain/processes/",
        (*LIBRARY, "c_api", "drain_frames", "drain_calls", "drain_rings", "bench"),
    ),
    Package("bench", r"bench/", (*LIBRARY, "c_api", "os_reports", "os", *BENCH_ROOMS)),
    Package("experiments", r"experiments/", (*LIBRARY, "hybrid", "c_api", "bench")),
    Package("trees", r"trees/", (*LIBRARY, "c_api")),
)

FOLDERS = ("include", "src", "bench", "experiments", "trees")
SUFFIXES = {".h", ".hpp", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SYSTEM_CALLS = re.compile(r"^(sys/|linux/|asm/|unistd\.h|sched\.h|pthread\.h|dlfcn\.h|fcntl\.h)")
PACKAGES_WITH_SYSTEM_CALLS = {
    "os",
    "gc_redirect",
    "process",
    "bench",
    *BENCH_ROOMS,
    "experiments",
}


def package_of(path: str) -> Package | None:
    """The package of a path relative to the root, or None."""
    return next((each for each in PACKAGES if re.match(each.pattern, path)), None)


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
    """Every C and C++ file of the packages, in order."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def offences_of(root: Path, source: Path) -> Iterator[str]:
    """One sentence for each include of ``source`` that is not an allowed dependency."""
    path = source.relative_to(root).as_posix()
    package = package_of(path)
    if package is None:
        yield f"{path}: is part of no package; add it to one in tools/check_layers.py"
        return
    text = source.read_text()
    for match in INCLUDE.finditer(text):
        name = match[2]
        line = text.count("\n", 0, match.start(1)) + 1
        target = resolve(root, source, name, match[1] == '"')
        if target is None:
            if SYSTEM_CALLS.match(name) and package.name not in PACKAGES_WITH_SYSTEM_CALLS:
                yield f"{path}:{line}: {package.name} makes no system calls, but includes <{name}>"
            elif match[1] == '"' or name.startswith("heapwise/"):
                yield f'{path}:{line}: "{name}" is not a file of ours'
            continue
        used = package_of(target)
        if used is None or (used != package and used.name not in package.may_use):
            whose = used.name if used else "a file of no package"
            yield f"{path}:{line}: {package.name} may not use {whose} ({target})"


def offences(root: Path) -> list[str]:
    """All offences below ``root``."""
    root = root.resolve()
    return [line for source in sources(root) for line in offences_of(root, source)]


def readable(pattern: str) -> str:
    """A pattern as a shell would have it: `src/{pool,arena}/`."""
    braces = re.sub(r"\(([^)]*)\)", lambda found: "{" + found[1].replace("|", ",") + "}", pattern)
    return braces.replace("\\w+", "*").replace("\\.", ".").rstrip("$")


def markdown() -> str:
    """The table of packages and dependencies."""
    rows = [
        f"| `{each.name}` | `{readable(each.pattern)}` | "
        f"{', '.join(f'`{name}`' for name in each.may_use) or 'nothing'} |"
        for each in PACKAGES
    ]
    return "\n".join(["| package | files | may use |", "|---|---|---|", *rows])


def main() -> int:
    if sys.argv[1:] == ["--markdown"]:
        print(markdown())
        return 0
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = offences(root)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"layers of C++: {len(list(sources(root)))} files, {len(found)} offences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
