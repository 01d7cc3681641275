"""Counts the instructions of the heap's paths in each profile, side by side.

``PYTHONPATH=tools python -m profile_paths`` prints a table. What is counted are some paths of
``fast_paths``, by callgrind, with all that they call: the C library's memset too, which chooses one
for the processor. The profiles that check every call have a further column each, with the call
sites of all blocks kept.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import fast_paths
from conformance import subject

PATHS = ("malloc 64, free", "new 64, sized delete", "64 blocks of 16 to 1024")
# The quarantines of all sizes are full before the first of these times.
TIMES = range(600, 1200)

#: No block of a path is a sampled one: which calls sample is chosen at random.
WITHOUT_SAMPLES = {"HEAPWISE_MALLOC_GUARD_EVERY": "0"}
WITH_SITES = {"HEAPWISE_MALLOC_CALL_SITES": "1"}


@dataclass(frozen=True)
class Column:
    """A profile of the heap, as it is measured."""

    name: str
    library: str
    variables: dict[str, str] = field(default_factory=dict)


def columns() -> Iterator[Column]:
    """The profiles, and those that can keep call sites once more with them."""
    for profile in ("fast", "default", "guarded", "hardened"):
        ending = "" if profile == "default" else f"-{profile}"
        library = f"libheapwise-malloc{ending}.so"
        yield Column(profile, library, WITHOUT_SAMPLES)
        if profile in ("guarded", "hardened"):
            yield Column(f"{profile}, call sites", library, WITHOUT_SAMPLES | WITH_SITES)


def counts_of(
    column: Column, native: Path, folder: Path, paths: Sequence[str] = PATHS
) -> dict[str, float]:
    """Path -> instructions each time."""
    library = native / column.library
    program = fast_paths.build(folder, library)
    return {
        path: fast_paths.each_time(
            program, library, path, TIMES.start, TIMES.stop, **column.variables
        )
        for path in paths
    }


def lines_of(counts: dict[str, dict[str, float]]) -> list[str]:
    """Column -> path -> instructions, as a table in Markdown: a line for each path."""
    paths = list(dict.fromkeys(path for figures in counts.values() for path in figures))
    lines = [f"| instructions | {' | '.join(counts)} |", "|---" * (len(counts) + 1) + "|"]
    for path in paths:
        figures = (counts[column].get(path) for column in counts)
        cells = ("-" if figure is None else f"{figure:,.0f}" for figure in figures)
        lines.append(f"| {path} | {' | '.join(cells)} |")
    return lines


def main() -> int:
    """The command. Returns the exit status."""
    native = subject.library().parent
    with tempfile.TemporaryDirectory() as folder:
        counts = {column.name: counts_of(column, native, Path(folder)) for column in columns()}
    print("\n".join(lines_of(counts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
