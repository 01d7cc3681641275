"""The programs of heap/real_programs, prepared for questions: ``FOLDER/NAME/run.sh`` runs one."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heapwise.catalog.program_file import REAL_PROGRAMS, find_wheels, read_programs
from workshop.questions.question import filled

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"


def program_names(experiment: str = REAL_PROGRAMS) -> list[str]:
    """The programs of an experiment, by name."""
    return [program.name for program in read_programs(experiment)]


def write_programs(folder: Path, names: Sequence[str]) -> None:
    """Effects: makes the input of each program, and writes the script that runs it. What changes
    its input makes it again each time."""
    wheels = _wheels()
    for name in names:
        declared = tomllib.loads((PROGRAMS / name / "program.toml").read_text())
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        values = {
            "python": sys.executable,
            "source": str(PROGRAMS / name),
            "size": str(declared["size"]),
            "programs": str(PROGRAMS),
            **wheels,
        }
        prepare = [filled(line, values) for line in declared.get("prepare", [])]
        again = ["rm -rf repository", *prepare] if name == "git" else []
        for line in prepare:
            subprocess.run(["sh", "-c", line], cwd=place, check=True, stdout=subprocess.DEVNULL)
        (place / "run.sh").write_text(_script(declared, values, place, again))


def _wheels() -> dict[str, str]:
    """What {wheels} stands for."""
    [found] = find_wheels()
    return {"wheels": str(found.folder)}


def _script(declared: dict[str, Any], values: dict[str, str], place: Path, again: list[str]) -> str:
    variables = {"LC_ALL": "C", **declared.get("environment", {})}
    words = [filled(word, values) for word in declared["command"]]
    source = f" <{shlex.quote(declared['input'])}" if "input" in declared else ""
    return "\n".join(
        [
            "set -e",
            f"cd {shlex.quote(str(place))}",
            *(
                f"export {name}={shlex.quote(filled(value, values))}"
                for name, value in variables.items()
            ),
            *(f"{{ {line}; }} >/dev/null 2>&1" for line in again),
            f"exec {shlex.join(words)}{source}",
            "",
        ]
    )
