"""The programs of heap/real_programs: how to prepare and to start them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parents[2] / "programs"


@dataclass(frozen=True)
class RealProgram:
    """One of them, prepared in a folder of its own."""

    name: str
    command: list[str]
    standard_input: Path | None
    environment: dict[str, str]
    folder: Path
    prepare: list[str]

    def begin(self) -> None:
        """Makes its input again: git changes what it works on."""
        for line in self.prepare:
            subprocess.run(
                ["sh", "-c", line],
                cwd=self.folder,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )


def program_names() -> list[str]:
    """Of all programs, in their order."""
    return sorted(file.parent.name for file in PROGRAMS.glob("*/program.toml"))


def real_programs(folder: Path, *, small: bool, only: Sequence[str] = ()) -> list[RealProgram]:
    """All of them or those of these names, in the order of their names, with their inputs."""
    found = []
    for file in sorted(PROGRAMS.glob("*/program.toml")):
        if only and file.parent.name not in only:
            continue
        program: dict[str, Any] = tomllib.loads(file.read_text())
        size = program.get("smoke_size", program["size"]) if small else program["size"]
        values = {
            "python": sys.executable,
            "source": str(file.parent),
            "size": str(size),
            "programs": str(PROGRAMS),
        }
        place = folder / file.parent.name
        place.mkdir(parents=True)
        found.append(
            RealProgram(
                file.parent.name,
                [_filled(word, values) for word in program["command"]],
                place / program["input"] if "input" in program else None,
                {"LC_ALL": "C", **program.get("environment", {})},
                place,
                [_filled(line, values) for line in program.get("prepare", [])],
            )
        )
        found[-1].begin()
    return found


def _filled(text: str, values: dict[str, str]) -> str:
    # Not str.format: the commands hold braces of other languages.
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text
