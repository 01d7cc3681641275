"""Counts the instructions of the heap's fast paths, to compare them with those on record.

``PYTHONPATH=tools python -m fast_paths`` shows them, ``--record`` writes them down for the
compiler that the library was built with. A number is the same in every run, on every machine.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from conformance import subject
from conformance.build import USUAL, compile_one

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "golden"
SOURCE = FOLDER / "fast_paths.cpp"
RECORD = FOLDER / "fast_paths.toml"
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

Counts = Mapping[str, float]


def compilers_of(binary: Path) -> list[str]:
    """The compilers that made parts of a program or library, as they signed it."""
    command = ["readelf", "--string-dump=.comment", str(binary)]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"\]\s+(\S.*\S)\s*$", dump, re.MULTILINE)))


def compiler_of(library: Path) -> str:
    """The name under which a library's figures are recorded: its compilers and machine."""
    return "; ".join([os.uname().machine, *compilers_of(library)])


def build(folder: Path) -> Path:
    """The program, built into ``folder``."""
    program = folder / SOURCE.stem
    headers = FOLDER.parents[1] / "include"
    compile_one(USUAL, SOURCE, program, f"-I{headers}", str(subject.library()))
    return program


def collected(program: Path, library: Path, path: str, times: int) -> int:
    """Instructions of the counted functions while the program goes down the path so often."""
    options = [f"--toggle-collect={each}" for each in COUNTED]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += ["--demangle=no", *options]
    environment = {
        "PATH": os.environ["PATH"],
        "LD_LIBRARY_PATH": str(library.parent),
        "HEAPWISE_MALLOC_PURGE_THREAD": "0",
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
        program = build(Path(folder))
        names = subprocess.run(
            [program],
            capture_output=True,
            text=True,
            check=True,
            env={"LD_LIBRARY_PATH": str(library.parent)},
        ).stdout.splitlines()
        if not set(compilers_of(library)) <= set(compilers_of(program)):
            names = [each for each in names if not each.startswith(INLINED)]
        return {
            name: (
                collected(program, library, name, LONG) - collected(program, library, name, SHORT)
            )
            / (LONG - SHORT)
            for name in names
        }


def recorded() -> dict[str, dict[str, float]]:
    """Compiler -> path -> instructions."""
    return tomllib.loads(RECORD.read_text()) if RECORD.exists() else {}


def differences(before: Counts, now: Counts) -> list[str]:
    """A line for each path whose figure is not what it was, is new, or is gone."""
    lines = []
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            was = f"{before[name]:g}" if name in before else "none"
            became = f"{now[name]:g}" if name in now else "none"
            lines.append(f"{name}: {became} instructions, {was} on record")
    return lines


def write(figures: Mapping[str, Counts]) -> None:
    """Writes the record anew."""
    lines = ["# Instructions of the heap's fast paths, each time; for each compiler that built it."]
    for compiler, counts in sorted(figures.items()):
        lines += ["", f'["{compiler}"]', *(f'"{name}" = {n:g}' for name, n in counts.items())]
    RECORD.write_text("\n".join(lines) + "\n")


def main() -> int:
    """The command. Returns the exit status: 1 when figures differ from those on record."""
    parser = argparse.ArgumentParser(description="instructions of the heap's fast paths")
    parser.add_argument("--record", action="store_true", help="write them down")
    chosen = parser.parse_args()
    library = subject.library()
    now = measure(library)
    compiler = compiler_of(library)
    figures = recorded()
    print(compiler)
    for name, count in now.items():
        print(f"{count:12g}  {name}")
    if chosen.record:
        write(figures | {compiler: now})
        return 0
    changed = differences(figures.get(compiler, {}), now)
    print("\n".join(changed), file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
