"""The programs of a comparison: which they are, and whether they can be measured at all."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwise.catalog import read_elf
from heapwise.errors import Problem
from heapwise.model import ROUND, Build, Parameter, Setting, SubjectName
from heapwise.runner.plan.preflight import Preflight, look, preflight

Parameters = Mapping[str, Sequence[Setting]]

NAME = re.compile(r"[^@/\x00-\x1f\x7f]{1,64}")


@dataclass(frozen=True)
class Examined:
    """A build as the plan has it, and what its program is."""

    build: Build
    found: Preflight


def examine_builds(
    builds: Sequence[Build], parameters: Parameters, *, replaces_malloc: bool, force: bool
) -> list[Examined]:
    """Problems E010 and E02x of the programs."""
    return [_examined(build, parameters, replaces_malloc, force) for build in builds]


def demand_builds(builds: Sequence[Build], parameters: Parameters) -> None:
    """Problem E003 for names that do not tell the builds apart, and for placeholders and parameters
    that do not fit."""
    _demand_names(builds)
    _demand_parameters(builds, parameters)
    for build in builds:
        for cell in cells_of(parameters):
            try:
                build.started(cell)
            except ValueError as error:
                words = " ".join(f"{name}={value}" for name, value in cell.items())
                raise Problem(
                    "E003", f"--parameter {words}: {error}", do="quote it as for a shell"
                ) from error


def unknown_placeholders(build: Build, parameters: Parameters) -> list[str]:
    """Those that stay as they are, if there are parameters at all. They may be a word of the
    program's own language."""
    known = {ROUND, *parameters}
    return sorted(build.placeholders - known) if parameters else []


def parameters_of(values: Parameters) -> list[Parameter]:
    """Each value is other work: cells are not compared across them."""
    return [
        Parameter(name, f"{{{name}}} in the command", list(chosen), list(chosen), changes_work=True)
        for name, chosen in values.items()
    ]


def cells_of(parameters: Parameters) -> list[dict[str, Setting]]:
    """The values of all parameters, crossed; [{}] without any."""
    return [
        dict(zip(parameters, values, strict=True))
        for values in itertools.product(*parameters.values())
    ]


def _examined(build: Build, parameters: Parameters, replaces_malloc: bool, force: bool) -> Examined:
    programs = dict.fromkeys(build.started(cell)[0] for cell in cells_of(parameters))
    found = [preflight(name, force=force) if replaces_malloc else look(name) for name in programs]
    typed = build.as_typed or list(build.command)
    if len(programs) > 1:
        return Examined(
            replace(build, command=[_absolute(build.program), *build.command[1:]], as_typed=typed),
            found[0],
        )
    facts = read_elf(found[0].image)
    return Examined(
        replace(
            build,
            command=[str(found[0].program), *build.command[1:]],
            as_typed=typed,
            build_id=facts.build_id if facts else "",
            sha256=_sha256(found[0].program),
        ),
        found[0],
    )


def _absolute(program: str) -> str:
    return str(Path(program).absolute()) if "/" in program else program


def _sha256(path: Path) -> str:
    """ "" for one that may be executed, but not read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _demand_names(builds: Sequence[Build]) -> None:
    names = [build.name for build in builds]
    for name in names if len(builds) > 1 else []:
        if not NAME.fullmatch(name) or SubjectName.parse(name).control:
            raise Problem(
                "E003",
                f"'{name}' cannot name a build",
                why="A name has 1 to 64 characters, none of them @, / or a control character such "
                "as a tab, and does not end in -control.",
                do="heapwise compare --build old=./a --build new=./b",
            )
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Problem("E003", f"two builds are called {twice}", do="give each a name of its own")
    for build in builds:
        if not build.command or not build.program:
            raise Problem(
                "E003",
                f"the command of {build.name or 'the program'} is empty",
                do="heapwise compare -- PROGRAM [ARGS]...",
            )


def _demand_parameters(builds: Sequence[Build], parameters: Parameters) -> None:
    texts = [
        text
        for b in builds
        for text in (*b.command, *b.environment.values(), b.prepare, b.conclude, b.setup, b.cleanup)
    ]
    for name, values in parameters.items():
        if name == ROUND:
            raise Problem(
                "E003",
                "--parameter round: {round} is the number of the round already",
                do="give the parameter another name",
            )
        if not any(f"{{{name}}}" in text for text in texts):
            raise Problem(
                "E003",
                f"--parameter {name}: no command has {{{name}}} in it",
                do=f"heapwise compare -L {name} 1,2 -- PROGRAM {{{name}}}",
            )
        if len(set(map(str, values))) < len(values) or not values:
            raise Problem(
                "E003",
                f"--parameter {name}: each value has to be given once",
                do=f"--parameter {name}=1,2,4",
            )
