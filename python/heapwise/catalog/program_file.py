"""``programs/<name>/program.toml``: a program of the machine that is run under each allocator."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from pathlib import Path

import msgspec

from heapwise.catalog.native import CHECKOUT, PACKAGE
from heapwise.errors import Problem
from heapwise.model import ProgramSpec

PROGRAM_FILE = "program.toml"
PROGRAMS = "programs"


class ProgramDeclaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """As ``ProgramSpec``. package: the Debian package that brings it. size: how much work it gets;
    ``smoke_size`` in a smoke run, in which a program without one takes no part."""

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


def program_folder() -> Path:
    """``HEAPWISE_PROGRAMS``, else the package's own folder, else that of the checkout."""
    if configured := os.environ.get("HEAPWISE_PROGRAMS"):
        return Path(configured).absolute()
    inside = PACKAGE / PROGRAMS
    return inside if inside.is_dir() else CHECKOUT / PROGRAMS


def read_programs() -> list[ProgramSpec]:
    """All that are declared, by name. Problem E012 for a file that is not as it should be."""
    return [_read(path) for path in sorted(program_folder().glob(f"*/{PROGRAM_FILE}"))]


def _read(path: Path) -> ProgramSpec:
    try:
        found = msgspec.convert(tomllib.loads(path.read_text()), ProgramDeclaration)
    except (OSError, ValueError) as error:
        raise Problem(
            "E012",
            f"{path} does not declare a program: {error}",
            do="see docs/how-to/add-program.md",
        ) from error
    lacking = next((name for name in found.executables if not shutil.which(name)), "")
    folder = path.parent
    places = {
        "python": sys.executable,
        "source": str(folder),
        "programs": str(folder.parent),
        "size": str(found.size),
    }
    return ProgramSpec(
        folder.name,
        found.title,
        found.command,
        executables=found.executables,
        prepare=found.prepare,
        environment=found.environment,
        input=found.input,
        output_files=found.output_files,
        check=found.check,
        replaces=found.replaces,
        places=places,
        smoke_size=str(found.smoke_size),
        ask_version=found.version,
        environment_prefixes=found.environment_prefixes,
        status="missing" if lacking else "",
        reason=f"{lacking} is not here: apt-get install {found.package}" if lacking else "",
    )
