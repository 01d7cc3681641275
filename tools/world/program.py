"""A declaration: one real program, the packages that it needs, its command and its output."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from heapwise.errors import CATALOGUE
from world.environments import Environment, is_made

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "world" / "programs"
LISTS = ROOT / "tools" / "packages"

Origin = Literal["debian", "pypi", "npm", "crates", "go", "maven"]


class Varying(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Output that differs from run to run: a regular expression, and what stands in its place."""

    pattern: str
    instead: str = ""


class Program(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """packages: of Debian. After a blank, the command that a package brings: if it is here, from
    wherever, the package is not needed. origin: a registry other than Debian's has an environment,
    in which the packages are pinned.
    files: name -> text, written into the folder in which the program runs.
    prepare: a script of bash that is run once, without Heapwise, in the folder {prepared}.
    output: a regular expression for the output of every run.
    refused: the error with which the laboratory must refuse the program, in each of its ways; or
    way -> the error, if it measures the program in others.
    fails: way -> why it fails. A fault that is known and not mended: the test expects it, and fails
    if the program passes.
    quick: it is run by `make test`, too.
    limit_s: a run that takes longer hangs.
    follow: what the command starts is recorded, too.
    """

    title: str
    command: list[str]
    output: str
    origin: Origin = "debian"
    packages: list[str] = []
    files: dict[str, str] = {}
    environment: dict[str, str] = {}
    prepare: str = ""
    varies: list[Varying] = []
    exit: int = 0
    refused: str | dict[str, str] = ""
    fails: dict[str, str] = {}
    quick: bool = False
    limit_s: float = 60
    follow: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        everywhere = [self.refused] if isinstance(self.refused, str) else self.refused.values()
        for id in everywhere:
            if id and id not in CATALOGUE:
                raise ValueError(f"refused: {id} is not the id of an error")

    def refusal(self, way: str) -> str:
        """The error with which the laboratory must refuse it in this way; "" if it must not."""
        return self.refused if isinstance(self.refused, str) else self.refused.get(way, "")

    @property
    def environment_needed(self) -> Environment | None:
        """The environment of its registry."""
        return None if self.origin == "debian" else Environment(self.origin)

    def lacking(self) -> list[str]:
        """What must be installed before the program can run."""
        needed = self.environment_needed
        found = [f"the environment {needed.value}"] if needed and not is_made(needed) else []
        return found + [package for package in self.packages if is_lacking(package)]


def is_lacking(package: str) -> bool:
    """Whether neither the Debian package nor the command that may stand beside it is here."""
    name, _, command = package.partition(" ")
    return name not in installed() and not (command and shutil.which(command))


@cache
def installed() -> frozenset[str]:
    """The names of the Debian packages of this machine."""
    query = ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev}${Package}\n"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    lines = (line.split() for line in done.stdout.splitlines())
    return frozenset(words[1] for words in lines if words[0] == "ii")


def read_program(path: Path) -> Program:
    """Raises ValueError, with the path, for a file that is not a declaration."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text()), Program)
    except (ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}") from error
    return msgspec.structs.replace(found, name=path.stem)


def all_programs() -> list[Program]:
    """Every declared program, by name."""
    return [read_program(path) for path in sorted(PROGRAMS.glob("*.toml"))]


def listed_packages(name: str) -> Iterator[str]:
    """The lines of a list of packages, without comments."""
    for line in (LISTS / f"{name}.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()
