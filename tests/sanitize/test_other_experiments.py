"""The experiments that no sanitizer runs: clang finds neither an error nor a warning in them.

The commands are those of ``build/asan``, with all their options, but without code generation.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ROOT / "build" / "asan" / "compile_commands.json"
DECLARED = re.compile(r"^// build: .*\bwith_sanitizers\b", re.MULTILINE)
SOURCES = sorted(
    path
    for path in (ROOT / "experiments").glob("*/*.cpp")
    if not DECLARED.search(path.read_text(encoding="utf-8"))
)


def complaints(source: Path) -> str:
    """What clang says about a source with the options of the preset."""
    commands = json.loads(COMMANDS.read_text())
    (found,) = (each for each in commands if Path(each["file"]) == source)
    words = shlex.split(found["command"])
    output = words.index("-o")
    del words[output : output + 2]
    command = [*words, "-fsyntax-only"]
    done = subprocess.run(command, cwd=found["directory"], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_clang_has_no_complaint(source: Path) -> None:
    assert complaints(source) == ""


def test_there_are_such_experiments() -> None:
    assert SOURCES
