"""``recipes/<name>/recipe.toml``: a server that we know how to start, to load and to stop."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from heapwise.catalog.program_file import program_folder
from heapwise.catalog.program_wheels import ADD_PROGRAMS, ProgramWheels
from heapwise.errors import Problem
from heapwise.natives import CHECKOUT, PACKAGE
from heapwise.wording.suggest import did_you_mean

RECIPE_FILE, RECIPES = "recipe.toml", "recipes"
OF_ROOT = "/usr/local/sbin:/usr/sbin:/sbin"


class Without(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What takes the place of ``load`` if its generator is not installed. It has no rate."""

    load: str


class RecipeDeclaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """package: the Debian package that brings the server. programs: what must be installed.

    The words may hold {port}, a free port; {folder}, an empty folder of each server; {cache}, a
    folder of the run; {recipe}, the folder of this file; ``load`` also {time} and {rate}. wheels:
    the set of Python packages beside the programs that the server needs. Then {python} is the
    Python for which they were fetched, {wheels} their folder, {programs} that of the programs.
    """

    title: str
    package: str
    programs: list[str]
    server: list[str]
    ready: str
    load: str
    prepare: list[str] = []
    rates: list[float] = []
    without: Without | None = None
    wheels: str = ""
    brings_malloc: bool = False
    """It is linked with a malloc, which whatever is preloaded replaces."""


@dataclass(frozen=True)
class Recipe:
    """One that can be used here: ``rates`` is empty if its generator knows no schedule."""

    name: str
    title: str
    server: list[str]
    ready: str
    load: str
    prepare: list[str]
    rates: list[float]
    brings_malloc: bool


def recipe_folder() -> Path:
    """``HEAPWISE_RECIPES``, else the package's own folder, else that of the checkout."""
    if configured := os.environ.get("HEAPWISE_RECIPES"):
        return Path(configured).absolute()
    inside = PACKAGE / RECIPES
    return inside if inside.is_dir() else CHECKOUT / RECIPES


def _installed(program: str) -> str | None:
    """Its path. Debian has servers where only root looks for programs."""
    return shutil.which(program) or shutil.which(program, path=OF_ROOT)


def recipe_names() -> list[str]:
    return sorted(path.parent.name for path in recipe_folder().glob(f"*/{RECIPE_FILE}"))


def _wheel_places(name: str, wheels: str) -> dict[str, str]:
    """Problem E010 if the packages are not here."""
    if not wheels:
        return {}
    programs = program_folder()
    packages = ProgramWheels(wheels, programs / f"{wheels}.lock")
    if not packages.is_here:
        raise Problem(
            "E010",
            f"--recipe {name}: its Python packages are not here",
            do=ADD_PROGRAMS,
        )
    return {
        "python": sys.executable,
        "wheels": str(packages.folder),
        "programs": str(programs),
    }


def find_recipe(name: str) -> Recipe:
    """Problem E003 for one that is not there, E012 for one that is not as it should be, E010 if a
    program or its packages are missing.
    """
    path = recipe_folder() / name / RECIPE_FILE
    if name not in recipe_names():
        raise Problem(
            "E003",
            f"--recipe {name}: there is no recipe of that name{did_you_mean(name, recipe_names())}",
            do=f"name one of {', '.join(recipe_names())}",
        )
    try:
        found = msgspec.convert(tomllib.loads(path.read_text()), RecipeDeclaration)
    except (OSError, ValueError) as error:
        raise Problem(
            "E012", f"{path} is not a recipe: {error}", do="see docs/how-to/measure-a-server.md"
        ) from error
    if lacking := next((each for each in found.programs if not _installed(each)), ""):
        raise Problem(
            "E010",
            f"--recipe {name}: {lacking} is not installed",
            do=f"apt-get install {found.package}, which is Debian's",
        )
    places = {"recipe": str(path.parent), **_wheel_places(name, found.wheels)}
    load, rates = found.load, found.rates
    if found.without is not None and not shutil.which(load.split()[0]):
        load, rates = found.without.load, []
    if not shutil.which(load.split()[0]):
        raise Problem(
            "E010",
            f"--recipe {name}: {load.split()[0]} is not installed",
            do="see docs/how-to/measure-a-server.md for where load generators are",
        )

    def placed(text: str) -> str:
        for place, value in places.items():
            text = text.replace(f"{{{place}}}", value)
        return text

    server = [_installed(found.server[0]) or found.server[0], *found.server[1:]]
    return Recipe(
        name,
        found.title,
        list(map(placed, server)),
        found.ready,
        placed(load),
        list(map(placed, found.prepare)),
        rates,
        found.brings_malloc,
    )
