"""Instructions of paths through the library, counted by callgrind, and the record of them.

A number is the same in every run, on every machine. It belongs to a compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

Counts = Mapping[str, float]


def compilers_of(binary: Path) -> list[str]:
    """The compilers that made parts of a program or library, as they signed it."""
    command = ["readelf", "--string-dump=.comment", str(binary)]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"\]\s+(\S.*\S)\s*$", dump, re.MULTILINE)))


def compiler_of(binary: Path) -> str:
    """The name under which figures are recorded: the compilers of a binary, and the machine."""
    return "; ".join([os.uname().machine, *compilers_of(binary)])


def recorded(record: Path) -> dict[str, dict[str, float]]:
    """Compiler -> path -> instructions."""
    return tomllib.loads(record.read_text()) if record.exists() else {}


def differences(before: Counts, now: Counts) -> list[str]:
    """A line for each path whose figure is not what it was, is new, or is gone."""
    lines = []
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            was = f"{before[name]:g}" if name in before else "none"
            became = f"{now[name]:g}" if name in now else "none"
            lines.append(f"{name}: {became} instructions, {was} on record")
    return lines


def write(record: Path, title: str, figures: Mapping[str, Counts]) -> None:
    """Writes the record again; ``title`` says what is counted."""
    lines = [f"# {title}, each time; for each compiler that built it."]
    for compiler, counts in sorted(figures.items()):
        lines += ["", f'["{compiler}"]', *(f'"{name}" = {n:g}' for name, n in counts.items())]
    record.write_text("\n".join(lines) + "\n")
