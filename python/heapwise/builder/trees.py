"""The programs of ``trees/``: what they are written in is got, and each is built where it can."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from heapwise.builder.partial import partial, publish
from heapwise.builder.workshop import BuildProgress, Workshop, plain_environment
from heapwise.catalog import (
    RECORD,
    TREES,
    TreePrograms,
    TreeRecord,
    data_folder,
    fingerprint,
    first_line,
    read_tree_record,
    read_trees,
)
from heapwise.errors import Problem
from heapwise.model.build import filled
from heapwise.wording.suggest import nearest

PIP = [
    "-m",
    "pip",
    "install",
    "--no-deps",
    "--only-binary=:all:",
    "--require-hashes",
    "--no-compile",
    "--disable-pip-version-check",
    "--progress-bar",
    "off",
]
NPM = ["npm", "ci", "--force", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"]
"""``--force``: a package for another processor may be what is wanted."""

APT = [
    "apt-get",
    "-q",
    "-y",
    "-o",
    "DPkg::Lock::Timeout=300",
    "-o",
    "Dpkg::Use-Pty=0",
    "install",
    "--no-install-recommends",
]


@dataclass(frozen=True)
class TreesAdded:
    """``news`` is False for programs that were there already, of the same sources."""

    name: str
    version: str
    path: str
    news: bool


def choose_trees(name: str) -> list[TreePrograms]:
    """Every language of ``trees``, or the one of ``trees/go``. Problem E002 for any other."""
    found = read_trees()
    language = name.partition("/")[2]
    chosen = [programs for programs in found if language in ("", programs.name)]
    if chosen:
        return chosen
    names = [programs.name for programs in found]
    near = nearest(language, names)
    hint = f"; did you mean {TREES}/{near}?" if near else f"; there are {', '.join(names)}"
    raise Problem("E002", f"no programs of trees in '{language}'{hint}", do="heapwise peers list")


def packages_to_install(languages: list[TreePrograms]) -> list[str]:
    """The Debian packages that ``add_trees`` would install: none without root or apt-get."""
    if os.geteuid() != 0 or not shutil.which(APT[0]):
        return []
    return list(
        dict.fromkeys(
            package
            for programs in languages
            if programs.lacking()
            for package in programs.packages()
        )
    )


def add_trees(
    programs: TreePrograms, progress: BuildProgress, *, again: bool = False, install: bool = True
) -> TreesAdded:
    """Gets its tools, fetches what its lock files name, builds, and puts all into its place.

    install: whether missing tools may be installed with apt-get, by root.

    Problems: E054 a tool is missing and cannot be got here, E055 a step failed, E050 no folder.
    """
    sources = fingerprint(programs)
    record = read_tree_record(programs)
    if not programs.needs_adding or (record and record.sources == sources and not again):
        version = record.version if record else first_line(programs.language.version)
        _demand(programs)
        return TreesAdded(programs.name, version, str(programs.out), news=False)
    with partial(data_folder() / TREES, programs.name) as (folder, log):
        shop = Workshop(programs.name, folder, log, progress, plain_environment(os.environ))
        if install:
            _install_tools(programs, shop)
        _demand(programs)
        _build(programs, shop)
        publish(folder / "out", programs.out)
        record = _record(programs, sources)
    return TreesAdded(programs.name, record.version, str(programs.out), news=True)


def _record(programs: TreePrograms, sources: str) -> TreeRecord:
    """Written last: until then nothing is there."""
    places = programs.places()
    version = first_line([filled(word, places) for word in programs.language.version])
    record = TreeRecord(version, sources, datetime.now(UTC).isoformat(timespec="seconds"))
    (programs.out / RECORD).write_bytes(msgspec.json.encode(record))
    return record


def _install_tools(programs: TreePrograms, shop: Workshop) -> None:
    """Installs missing tools from Debian where that is possible."""
    if packages := packages_to_install([programs]):
        what = f"installing {', '.join(packages)}"
        Workshop(
            shop.name,
            shop.folder,
            shop.log,
            shop.progress,
            shop.environment | {"DEBIAN_FRONTEND": "noninteractive"},
        ).run(what, [*APT, *packages], shop.folder)


def _demand(programs: TreePrograms) -> None:
    """Problem E054 with the tools that are not here."""
    if missing := programs.lacking():
        raise Problem(
            "E054",
            f"{TREES}/{programs.name} cannot be built without {', '.join(missing)}",
            why="Its rows are left out, and say so.",
            do=programs.language.get,
        )


def _build(programs: TreePrograms, shop: Workshop) -> None:
    """Everything below ``out`` of the shop."""
    source, out = shop.folder / "source", shop.folder / "out"
    shutil.copytree(programs.path, source)
    out.mkdir()
    places = programs.places() | {"source": str(source), "out": str(out)}
    _fetch(programs, out, shop)
    steps = programs.language.build
    for number, command in enumerate(steps, 1):
        words = [filled(word, places) for word in command]
        position = f", {number} of {len(steps)}" if len(steps) > 1 else ""
        shop.run(f"building with {Path(words[0]).name}{position}", words, source)


def _fetch(programs: TreePrograms, out: Path, shop: Workshop) -> None:
    """Wheels into ``out/wheels``, npm's packages into ``out/node_modules``; hashes are compared."""
    if "requirements.lock" in programs.locks:
        lock = str(programs.path / "requirements.lock")
        shop.run(
            "fetching what requirements.lock names",
            [sys.executable, *PIP, "--target", str(out / "wheels"), "--requirement", lock],
            out,
        )
    if "package-lock.json" in programs.locks:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(programs.path / name, out / name)
        if not shutil.which(NPM[0]):
            raise Problem(
                "E054",
                f"{TREES}/{programs.name} is fetched by npm, which is not here",
                do="apt-get install npm",
            )
        shop.run("fetching what package-lock.json names", NPM, out)
