"""``trees/<language>/rows.toml``: the ways to manage memory that the tree programs show."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec

from heapwise.catalog.added import RECORD, data_folder
from heapwise.catalog.tool_version import first_line
from heapwise.errors import Problem
from heapwise.model import SubjectName, SubjectSpec
from heapwise.model.build import filled
from heapwise.natives import CHECKOUT, PACKAGE, native_folder

ROWS_FILE = "rows.toml"
TREES, BUILT = "trees", "built"
LOCKS = ("requirements.lock", "package-lock.json")
"""Beside the rows: what is fetched for them before anything is built."""

BUILDS = "builds.txt"
"""The file of the native parts: the name, the compiler and the flags of each program."""

MADE = re.compile(r"\{out\}/[\w./]+")
FOLDER = re.compile(r"\{(?:out|source)\}/")

ADD = "heapwise peers add trees"
APT = "apt-get install "


class BudgetPoint(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One place on a row's curve. ``arguments`` follow the command's first word; ``command`` takes
    the place of the row's."""

    label: str
    environment: dict[str, str] = {}
    arguments: list[str] = []
    command: list[str] = []


class TreeRow(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One way to manage memory. ``requires`` are files without which it cannot run; ``budget`` goes
    from lean to generous."""

    name: str
    title: str
    group: Literal["explicit", "counting", "collector", "region"]
    kind: Literal["program", "malloc"]
    command: list[str]
    environment: dict[str, str] = {}
    note: str = ""
    requires: list[str] = []
    budget: list[BudgetPoint] = []


class Language(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """``tools`` are needed to build; ``get`` says how to get them. ``environment_prefixes`` start
    the variables that tune this runtime."""

    title: str
    row: list[TreeRow]
    tools: list[str] = []
    get: str = ""
    build: list[list[str]] = []
    version: list[str] = []
    environment_prefixes: list[str] = []


class TreeRecord(msgspec.Struct, frozen=True):
    """What ``peers add trees`` made. ``sources`` is the fingerprint of what it was made of."""

    version: str
    sources: str
    made: str


@dataclass(frozen=True)
class TreePrograms:
    """A language as it is declared in ``path``, the folder of its sources."""

    name: str
    language: Language
    path: Path = field(compare=False)

    @property
    def out(self) -> Path:
        """Where its programs are built, and what is fetched for them is put."""
        return data_folder() / TREES / self.name / BUILT

    @property
    def locks(self) -> list[str]:
        return [name for name in LOCKS if (self.path / name).is_file()]

    @property
    def needs_adding(self) -> bool:
        return bool(self.language.build or self.locks)

    def places(self) -> dict[str, str]:
        """What the placeholders of its rows stand for."""
        try:
            native = str(native_folder())
        except Problem:
            native = ""
        return {
            "source": str(self.path),
            "trees": str(self.path.parent),
            "out": str(self.out),
            "native": native,
        }

    def packages(self) -> list[str]:
        """Debian packages that bring its tools; none where ``get`` says another way."""
        _, found, words = self.language.get.partition(APT)
        return words.split("   ")[0].split() if found else []

    def lacking(self) -> list[str]:
        """Tools that are not on PATH."""
        return [tool for tool in self.language.tools if not shutil.which(tool)]


def tree_folder() -> Path:
    """``HEAPWISE_TREES``, else the package's own folder, else that of the checkout."""
    if configured := os.environ.get("HEAPWISE_TREES"):
        return Path(configured)
    inside = PACKAGE / TREES
    return inside if inside.is_dir() else CHECKOUT / TREES


def read_trees(folder: Path | None = None) -> list[TreePrograms]:
    """All languages, by name. Problem E012 for a file that is not as it should be."""
    where = folder or tree_folder()
    found = [_read(path) for path in sorted(where.glob(f"*/{ROWS_FILE}"))]
    names = [row.name for programs in found for row in programs.language.row]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Problem(
            "E012", f"{where} has two rows '{twice}'", do="see docs/how-to/add-tree-row.md"
        )
    return found


def subject_specs(programs: TreePrograms) -> Iterator[tuple[TreeRow, SubjectSpec]]:
    """Its rows, here or not; those that are not say how to get them."""
    places, version = programs.places(), version_of(programs)
    for row in programs.language.row:
        reason = why_missing(programs, row, places)
        yield (
            row,
            SubjectSpec(
                row.name,
                row.kind,
                row.title,
                available=not reason,
                reason=reason,
                command=[filled(word, places) for word in row.command],
                environment={
                    name: filled(value, places) for name, value in row.environment.items()
                },
                group=row.group,
                version="" if reason else version,
                note=" ".join(row.note.split()),
                build="" if reason else how_built(programs, row, places),
            ),
        )


def budget_specs(programs: TreePrograms) -> Iterator[tuple[TreeRow, SubjectSpec]]:
    """``go/GOGC=25``: the points of each row that has any."""
    places = programs.places()
    for row, spec in subject_specs(programs):
        for point in row.budget:
            first, *others = spec.command
            command = [filled(word, places) for word in point.command or point.arguments]
            yield (
                row,
                replace(
                    spec,
                    name=str(SubjectName(row.name, point.label)),
                    title=f"{row.title}, {point.label}",
                    command=command if point.command else [first, *command, *others],
                    environment=spec.environment
                    | {name: filled(value, places) for name, value in point.environment.items()},
                ),
            )


def why_missing(programs: TreePrograms, row: TreeRow, places: Mapping[str, str]) -> str:
    """How to get a row that cannot run here; "" for one that can."""
    language = programs.language
    get = language.get or ADD
    if programs.needs_adding:
        add = f"{language.get}, then {ADD}" if programs.lacking() and language.get else ADD
        record = read_tree_record(programs)
        if record is None:
            return add
        if record.sources != fingerprint(programs):
            return f"built from other sources than those here: {add}"
        get = add
    first = filled(row.command[0], places)
    wanted = [first, *(_required(name, places) for name in row.requires)]
    missing = next((name for name in wanted if not _is_here(name)), None)
    if missing is None:
        return ""
    return f"{Path(missing).name} is not here: {get}"


def version_of(programs: TreePrograms) -> str:
    """As it was when the programs were built; of a language that needs no building as it is."""
    if programs.needs_adding:
        record = read_tree_record(programs)
        return record.version if record else ""
    places = programs.places()
    return first_line([filled(word, places) for word in programs.language.version])


def how_built(programs: TreePrograms, row: TreeRow, places: Mapping[str, str]) -> str:
    """The commands that made its program, without the folders; of a program of the native parts its
    compiler and flags. "" for a script, and where it is not known."""
    steps = programs.language.build
    if steps:
        return "; ".join(
            _without_folders(" ".join(step))
            for step in steps
            if step[0] != "cp" and _is_of(row, " ".join(step), programs)
        )
    program = Path(filled(row.command[0], places))
    if not row.command[0].startswith("{native}"):
        return ""
    try:
        lines = (program.parent / BUILDS).read_text().splitlines()
    except OSError:
        return ""
    return dict(line.partition(" ")[::2] for line in lines).get(program.name, "")


def _is_of(row: TreeRow, step: str, programs: TreePrograms) -> bool:
    """A step that names files of other rows alone made nothing of this one."""
    products = {
        other.name: MADE.findall(" ".join([*other.command, *other.requires]))
        for other in programs.language.row
    }
    named = set(MADE.findall(step))
    others = {name for names in products.values() for name in names}
    return bool(named & set(products[row.name])) or not named & others


def _without_folders(step: str) -> str:
    return FOLDER.sub("", step).replace("{out}", ".").replace("{trees}", "trees")


def read_tree_record(programs: TreePrograms) -> TreeRecord | None:
    """None when its programs were not built here."""
    try:
        return msgspec.json.decode((programs.out / RECORD).read_bytes(), type=TreeRecord)
    except (OSError, ValueError):
        return None


def fingerprint(programs: TreePrograms) -> str:
    """A hash of the sources and of how they are built, but not of rows: a new row builds
    nothing."""
    found = hashlib.sha256(repr(programs.language.build).encode())
    for path in sorted(programs.path.rglob("*")):
        if path.is_file() and path.name != ROWS_FILE and "__pycache__" not in path.parts:
            found.update(path.relative_to(programs.path).as_posix().encode() + b"\0")
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def forget_trees(programs: TreePrograms) -> bool:
    """Removes what was built; False when nothing was. OSError if it stays."""
    if not programs.out.is_dir():
        return False
    shutil.rmtree(programs.out.parent)
    return True


def tuning_prefixes() -> list[str]:
    """Starts of the variables that tune a runtime: the user's own would tune a row in silence."""
    return [prefix for found in read_trees() for prefix in found.language.environment_prefixes]


def _required(name: str, places: Mapping[str, str]) -> str:
    return filled(
        name.replace("native:", "{native}/", 1) if name.startswith("native:") else name, places
    )


def _is_here(name: str) -> bool:
    return Path(name).exists() if "/" in name else shutil.which(name) is not None


def _read(path: Path) -> TreePrograms:
    try:
        language = msgspec.convert(tomllib.loads(path.read_text()), Language)
    except (OSError, ValueError) as error:
        raise Problem(
            "E012", f"{path} declares no rows: {error}", do="see docs/how-to/add-tree-row.md"
        ) from error
    return TreePrograms(path.parent.name, language, path.parent)
