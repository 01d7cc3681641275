"""Counts the instructions of the fast paths of heap and pools, beside those on record.

``PYTHONPATH=tools python -m fast_paths`` shows them, ``--record`` writes them down for the
compiler that the library was built with.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pool_paths
from conformance import subject
from conformance.build import USUAL, compile_one
from instruction_counts import Counts, compiler_of, compilers_of, differences, recorded, write

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "golden"
SOURCE = FOLDER / "fast_paths.cpp"
RECORD = FOLDER / "fast_paths.toml"
TITLE = "Instructions of the heap's fast paths"
INLINED = "heap.hpp"
TIMEOUT_S = 60

# What is counted, with all that it calls: the functions that the program calls.
COUNTED = (
    "malloc",
    "free",
    "realloc",
    "aligned_alloc",
    "_Znwm",
    "_ZdlPvm",
    "heapwise_inlined_64",
)
# The first call of a path differs from the others, so two lengths are compared.
SHORT, LONG = 100, 200


def build(folder: Path, library: Path) -> Path:
    """The program, built into ``folder`` and linked with the library. It is compiled once for all
    libraries."""
    program, compiled = folder / SOURCE.stem, folder / f"{SOURCE.stem}.o"
    if not compiled.exists():
        headers = FOLDER.parents[1] / "include"
        compile_one(USUAL, SOURCE, compiled, "-c", f"-I{headers}")
    compile_one(USUAL, compiled, program, str(library))
    return program


def each_time(
    program: Path, library: Path, path: str, short: int = SHORT, long: int = LONG, **more: str
) -> float:
    """Instructions of the counted functions each time that the program goes down the path, from
    the ``short``-th time to the ``long``-th. ``more``: further variables of its environment.
    """
    until_long = collected(program, library, path, long, **more)
    return (until_long - collected(program, library, path, short, **more)) / (long - short)


def collected(program: Path, library: Path, path: str, times: int, **more: str) -> int:
    """Instructions of the counted functions while the program goes down the path so often."""
    options = [f"--toggle-collect={each}" for each in COUNTED]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += ["--demangle=no", *options]
    environment = {
        "PATH": os.environ["PATH"],
        "LD_LIBRARY_PATH": str(library.parent),
        "HEAPWISE_MALLOC_PURGE_THREAD": "0",
        **more,
    }
    done = subprocess.run(
        [*command, str(program), path, str(times)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=environment,
        check=False,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(f"{' '.join(command)} {path}: {done.stderr}")
    return int(found[1])


def measure(library: Path) -> dict[str, float]:
    """Path -> instructions each time. The paths in a header are left out when the program's
    compiler is not the library's: no figure would belong to one compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), library)
        names = subprocess.run(
            [program],
            capture_output=True,
            text=True,
            check=True,
            env={"LD_LIBRARY_PATH": str(library.parent)},
        ).stdout.splitlines()
        if not set(compilers_of(library)) <= set(compilers_of(program)):
            names = [each for each in names if not each.startswith(INLINED)]
        return {name: each_time(program, library, name) for name in names}


def report(record: Path, title: str, compiler: str, now: Counts, record_them: bool) -> bool:
    """Prints the figures. Returns whether they are those on record, which are written if asked."""
    figures = recorded(record)
    print(f"{title}\n{compiler}")
    for name, count in now.items():
        print(f"{count:12g}  {name}")
    if record_them:
        write(record, title, figures | {compiler: now})
        return True
    changed = differences(figures.get(compiler, {}), now)
    print("\n".join(changed), file=sys.stderr)
    return not changed


def main() -> int:
    """The command. Returns the exit status: 1 when figures differ from those on record."""
    parser = argparse.ArgumentParser(description="instructions of the fast paths")
    parser.add_argument("--record", action="store_true", help="write them down")
    chosen = parser.parse_args()
    library = subject.library()
    same = [
        report(RECORD, TITLE, compiler_of(library), measure(library), chosen.record),
        report(pool_paths.RECORD, pool_paths.TITLE, *pool_paths.measure(), chosen.record),
    ]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
