"""``programs/<name>/program.toml``: a program of the machine that is run under each allocator."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from pathlib import Path

import msgspec

from heapwise.catalog.program_wheels import ADD_PROGRAMS, PROGRAMS, ProgramWheels, wheels_beside
from heapwise.errors import Problem
from heapwise.model import ProgramSpec
from heapwise.model.build import filled
from heapwise.natives import CHECKOUT, PACKAGE

PROGRAM_FILE = "program.toml"
REAL_PROGRAMS = "heap/real_programs"
IDLE = "IDLE_S"
"""The variable that tells a program how long its idle phase is."""


class ProgramDeclaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """As ``ProgramSpec``. package: the Debian package that brings it. size: how much work it gets;
    ``smoke_size`` in a smoke run, in which a program without one takes no part. experiment: that
    runs it. wheels: the name of the lock file of its Python packages, without its end. needs: files
    of the package without which it cannot run. idle_s: the length of its last phase, in which it
    sleeps; the program reads it from the variable ``IDLE_S``."""

    title: str
    package: str
    command: list[str]
    executables: list[str]
    version: list[str]
    prepare: list[str] = []
    environment: dict[str, str] = {}
    environment_prefixes: list[str] = []
    input: str = ""
    output_files: list[str] = []
    check: str = ""
    replaces: str = ""
    size: int | str = ""
    smoke_size: int | str = ""
    experiment: str = REAL_PROGRAMS
    wheels: str = ""
    needs: list[str] = []
    idle_s: float = 0.0


def program_folder() -> Path:
    """``HEAPWISE_PROGRAMS``, else the package's own folder, else that of the checkout."""
    if configured := os.environ.get("HEAPWISE_PROGRAMS"):
        return Path(configured).absolute()
    inside = PACKAGE / PROGRAMS
    return inside if inside.is_dir() else CHECKOUT / PROGRAMS


def find_wheels() -> list[ProgramWheels]:
    """The sets of Python packages that programs run with, by name."""
    return wheels_beside(program_folder())


def read_programs(experiment: str = REAL_PROGRAMS) -> list[ProgramSpec]:
    """All that the experiment runs, by name. Problem E012 for a file that is not as it should
    be."""
    read = [
        (path.parent, _read(path)) for path in sorted(program_folder().glob(f"*/{PROGRAM_FILE}"))
    ]
    return [_spec(folder, found) for folder, found in read if found.experiment == experiment]


def _read(path: Path) -> ProgramDeclaration:
    try:
        return msgspec.convert(tomllib.loads(path.read_text()), ProgramDeclaration)
    except (OSError, ValueError) as error:
        raise Problem(
            "E012",
            f"{path} does not declare a program: {error}",
            do="see docs/how-to/add-program.md",
        ) from error


def _spec(folder: Path, found: ProgramDeclaration) -> ProgramSpec:
    wheels = ProgramWheels(found.wheels, folder.parent / f"{found.wheels}.lock")
    places = {
        "python": sys.executable,
        "source": str(folder),
        "programs": str(folder.parent),
        "size": str(found.size),
        **({"wheels": str(wheels.folder)} if found.wheels else {}),
    }
    reason = _lacking(found, wheels)
    idle = {IDLE: f"{found.idle_s:g}"} if found.idle_s else {}
    return ProgramSpec(
        folder.name,
        found.title,
        found.command,
        executables=found.executables,
        prepare=found.prepare,
        environment={name: filled(value, places) for name, value in found.environment.items()}
        | idle,
        input=found.input,
        output_files=found.output_files,
        check=found.check,
        replaces=found.replaces,
        places=places,
        smoke_size=str(found.smoke_size),
        ask_version=found.version,
        environment_prefixes=found.environment_prefixes,
        status="missing" if reason else "",
        reason=reason,
        idle_s=found.idle_s,
    )


def _lacking(found: ProgramDeclaration, wheels: ProgramWheels) -> str:
    """Why it cannot run here, and how to get what it lacks; "" if it lacks nothing."""
    lacking = [name for name in found.executables if not shutil.which(name)]
    lacking += [name for name in found.needs if not Path(name).exists()]
    if lacking:
        return f"{lacking[0]} is not here: apt-get install {found.package}"
    if found.wheels and not wheels.is_here:
        return f"its Python packages are not here: {ADD_PROGRAMS}"
    return ""
