"""Experiments whose subjects are programs: ``experiments/<family>/<name>.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from heapwise.catalog.program_file import read_programs
from heapwise.catalog.tree_output import tree_output
from heapwise.catalog.tree_rows import (
    TreePrograms,
    TreeRow,
    budget_specs,
    read_trees,
    subject_specs,
)
from heapwise.model import (
    PROGRAM,
    SCHEMA_VERSION,
    Experiment,
    Parameter,
    Quantity,
    Setting,
    Settings,
    SubjectSpec,
)
from heapwise.model.subject_name import MALLOC


class ProgramsDocument(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """``subjects``: every row, or the points of those that have a budget and what is explicit; or
    each peer, under every program of the parameter ``program``. ``output``: what must be printed,
    by a rule or by the example of the baseline."""

    question: str
    isolates: str
    not_shown: str
    output: Literal["binary_trees", "baseline"]
    subjects: Literal["rows", "budgets", "malloc"]
    baseline: str
    quantity: list[Quantity]
    parameter: list[Parameter] = []


Found = tuple[TreeRow, SubjectSpec]


def read_program_experiment(path: Path) -> Experiment:
    """As ``--describe`` of a binary would answer. ValueError or OSError for a file that is no
    experiment; Problem E003 for rows that cannot be read."""
    document = msgspec.convert(tomllib.loads(path.read_text()), ProgramsDocument)
    if document.subjects == "malloc":
        return _under_each_peer(path, document)
    rows = [found for programs in read_trees() for found in SUBJECTS[document.subjects](programs)]
    return replace(_experiment(path, document), subjects=[spec for _, spec in rows])


def _experiment(path: Path, document: ProgramsDocument) -> Experiment:
    """Without subjects."""
    family = path.parent.name
    return Experiment(
        schema=SCHEMA_VERSION,
        id=f"{family}/{path.stem}",
        family=family,
        question=document.question,
        isolates=" ".join(document.isolates.split()),
        not_shown=" ".join(document.not_shown.split()),
        parameters=document.parameter,
        quantities=document.quantity,
        subjects=[],
        baseline=document.baseline,
        repeats=1,
        dropped_repeats=0,
    )


def _under_each_peer(path: Path, document: ProgramsDocument) -> Experiment:
    """Its parameter ``program`` has every program that is declared, here or not."""
    programs = read_programs(f"{path.parent.name}/{path.stem}")
    names: list[Setting] = [program.name for program in programs]
    smoke: list[Setting] = [program.name for program in programs if program.smoke_size]
    chosen = Parameter(PROGRAM, "that runs under each allocator", names, smoke)
    return replace(
        _experiment(path, document),
        parameters=[chosen, *document.parameter],
        subjects=[SubjectSpec(MALLOC, "malloc", "the malloc of the whole program")],
        programs=programs,
    )


def expected_output(experiment: Experiment, parameters: Mapping[str, Setting]) -> bytes:
    """What every subject of a program experiment has to print in this cell."""
    return tree_output(int(Settings.of(parameters).number("depth", 0)))


def _budgets(programs: TreePrograms) -> list[Found]:
    explicit = [(row, spec) for row, spec in subject_specs(programs) if row.group == "explicit"]
    return [*explicit, *budget_specs(programs)]


SUBJECTS: dict[str, Callable[[TreePrograms], Iterable[Found]]] = {
    "rows": subject_specs,
    "budgets": _budgets,
}
