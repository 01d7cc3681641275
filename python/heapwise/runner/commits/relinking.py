"""Links a program again under random layouts while the user's command builds it (``--relink``).

Compilers find their linker in COMPILER_PATH and PATH, so the build needs no change. ``linker.py``
stands there.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from heapwise.errors import Problem
from heapwise.runner.commits import linker

LINKERS = ("ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold", "mold", "lld", "collect-ld", "real-ld")

DRIVER = "cc"
"""rustc calls it, with -B for a linker of its own, which comes before COMPILER_PATH."""

CALLS_LINKER = """#!/bin/sh
exec {python} -I -S {script} {name} "$@"
"""

CALLS_DRIVER = """#!/bin/sh
folders=
for word; do
  case $word in -B?*) folders=$folders:${{word#-B}} ;; esac
done
{variable}=$folders exec {real} -B{folder}/ "$@"
"""

GO = b"\xff Go buildinf:"
"""Begins a section of every program that the linker of Go made."""

PIECE = 1 << 20


@dataclass(frozen=True)
class Linked:
    """The layouts of one program, and what its link was."""

    files: list[str]
    record: dict[str, Any]


@dataclass(frozen=True)
class Relinking:
    """folder: of the stand-ins and the layouts; it has to be on the file system of the trees.
    layouts: how many the program gets."""

    folder: Path
    program: str
    layouts: int

    def prepare(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment in which the build has to run."""
        tools, links = self.folder / "tools", self.folder / "links"
        for each in (tools, links):
            each.mkdir(parents=True)
        path = environment.get("PATH", os.defpath)
        script = str(Path(linker.__file__).resolve())
        for name in LINKERS:
            _write(
                tools / name,
                CALLS_LINKER.format(
                    python=shlex.quote(sys.executable), script=shlex.quote(script), name=name
                ),
                exists=shutil.which(name, path=path) is not None or name == "ld.lld",
            )
        if real := shutil.which(DRIVER, path=path):
            _write(
                tools / DRIVER,
                CALLS_DRIVER.format(
                    variable=linker.DIRECTORIES,
                    real=shlex.quote(real),
                    folder=shlex.quote(str(tools)),
                ),
            )
        before = environment.get("COMPILER_PATH", "")
        return {
            **environment,
            "PATH": f"{tools}:{path}",
            "COMPILER_PATH": f"{tools}:{before}" if before else str(tools),
            linker.TOOLS: str(tools),
            linker.FOLDER: str(links),
            linker.PROGRAM: self.program,
            linker.LAYOUTS: str(self.layouts),
        }

    def linked(self, program: Path) -> Linked:
        """The layouts of the program that the build left. Problem E059."""
        records = [
            (path.parent, msgspec.json.decode(path.read_bytes()))
            for path in (self.folder / "links").glob(f"*/{linker.RECORD}")
        ]
        contents = program.read_bytes()
        digest = hashlib.sha256(contents).hexdigest()
        same = [(folder, record) for folder, record in records if record["sha256"] == digest]
        if not same:
            raise Problem(
                "E059", f"{program.name} cannot be linked again: {_why(contents, records)}"
            )
        whole = [(folder, record) for folder, record in same if not record["error"]]
        if not whole:
            raise Problem("E059", f"{program.name} cannot be linked again: {same[0][1]['error']}")
        folder, record = whole[0]
        return Linked([str(folder / str(layout)) for layout in range(self.layouts)], record)


def _write(file: Path, text: str, *, exists: bool = True) -> None:
    if exists:
        file.write_text(text)
        file.chmod(0o755)


def _why(contents: bytes, records: list[Any]) -> str:
    """Why no link of the build made this program."""
    if not contents.startswith(b"\x7fELF"):
        return "it is not an ELF file but, for example, a script that starts one"
    if GO in contents:
        return (
            "Go has a linker of its own. Its option -ldflags=-randlayout=N draws one random order "
            "of functions; build with several and compare them"
        )
    if records:
        return (
            "the build changed the file after the link, for example by strip or objcopy. Let the "
            "linker do that, for example with -Wl,-s"
        )
    return (
        "the build called no linker that Heapwise could stand before. It has to call a compiler by "
        "its name, and to link the program under about its own name"
    )
