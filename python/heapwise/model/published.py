"""A benchmark report that others published: its tables, its machines and its conclusions.

``published/<name>.toml`` as the catalogue read it. Every figure and every conclusion names the
figures of our experiments that answer it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from heapwise.model.author_output import AuthorFigure
from heapwise.model.cell import Setting
from heapwise.model.declared import Experiment

Statistic = Literal["median", "min", "mean", "max", "sd", "spread", "peak"]
"""``spread``: the standard deviation of the repeats of a process over their median. ``peak``: the
largest of them over their median."""

Source = Literal["text", "figures"]
"""Where a conclusion is from: the text of the report states it, or its figures show it."""

ABOUT = 1.5
"""A size is as published if it is at most this many times smaller or larger."""

LEVEL = 1.1
"""Two figures are level if neither is more than this many times the other."""


@dataclass(frozen=True)
class FigureKey:
    """Where one figure of ours is: a quantity of a subject in a cell of an experiment.

    ``parameters``: what the report says of its settings; others have their first usual value.
    """

    experiment: str
    subject: str
    quantity: str
    parameters: dict[str, Setting] = field(default_factory=dict)
    statistic: Statistic = "median"


@dataclass(frozen=True)
class Formula:
    """``factor`` times the product of ``above`` over the product of ``below``: one value, or a
    ratio. ``factor``: of the published figures among them, in the units of ours."""

    above: tuple[FigureKey, ...]
    below: tuple[FigureKey, ...] = ()
    factor: float = 1.0

    @property
    def places(self) -> tuple[FigureKey, ...]:
        return self.above + self.below

    @property
    def value_of(self) -> FigureKey | None:
        """The only place of a formula that is not a ratio of two of ours."""
        return self.above[0] if len(self.places) == 1 else None


@dataclass(frozen=True)
class PublishedFigure:
    """``text`` as it was printed, ``value`` as a number; None where the report has no figure.

    ``ours`` is measured in units of which ``scale`` make one of the report's ``unit``, and
    ``offset`` is taken away from it: a change of 16 % is a ratio of 1.16. Without ``ours``, the
    ``reason`` says why there is no such figure here. ``author``: where the output of the author's
    program has it.
    """

    text: str
    value: float | None
    unit: str
    ours: Formula | None = None
    statistic: Statistic = "median"
    scale: float = 1.0
    offset: float = 0.0
    reason: str = ""
    author: AuthorFigure | None = None


@dataclass(frozen=True)
class PublishedRow:
    """One line: a figure for each column of the table, with ``note`` as the report has it."""

    title: str
    figures: tuple[PublishedFigure, ...]
    note: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """``rows_are``: the head of the first column. ``machine`` is a name among the report's."""

    name: str
    title: str
    machine: str
    rows_are: str
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]

    @property
    def figures(self) -> Iterator[PublishedFigure]:
        return (figure for row in self.rows for figure in row.figures)


@dataclass(frozen=True)
class Statement:
    """``formula`` lies between the bounds. ``words``: as the file writes it.

    ``published``: the same formula over the figures that the report printed, once for each of its
    machines. ``size``: the bounds of the second verdict, which says whether our ratio is as large
    as the published one; None for a statement that has no size of its own. ``no_effect``: within
    these bounds a ratio is not the difference that the report states: the figures are level, or it
    is less than N / ABOUT of "about N"; None for a statement that states no difference.
    """

    words: str
    formula: Formula
    at_least: float = 0.0
    at_most: float | None = None
    published: tuple[float, ...] = ()
    size: tuple[float, float] | None = None
    no_effect: tuple[float, float | None] | None = None


@dataclass(frozen=True)
class Conclusion:
    """What the report concludes. It holds if each of ``statements`` holds.

    impossible: why no experiment here can judge it. processors: how many it takes at least.
    source: whether the text of the report says it, or its figures show it.
    """

    topic: str
    says: str
    statements: tuple[Statement, ...] = ()
    impossible: str = ""
    processors: int = 1
    source: Source = "text"


class SourceMachine(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the report says of a machine: words to each of its properties, "" where it is silent."""

    title: str
    processor: str = ""
    memory: str = ""
    caches: str = ""
    system: str = ""
    compiler: str = ""
    flags: str = ""
    versions: str = ""


@dataclass(frozen=True)
class Picture:
    """One figure of the report: the columns of a table as lines over its rows, or as dots."""

    name: str
    title: str
    table: str
    kind: Literal["dots", "lines"] = "dots"
    rows: str = ""
    """Only rows whose title begins with this, and is drawn without it."""


@dataclass(frozen=True)
class PublishedReport:
    """``origin``: who published it, and when; ``link``: where, or "" for what is in no public
    place. ``repeats`` of a process; 0: as many as each experiment declares. ``advice``: the
    experiment for whose programs the page says which allocator suits them; "" for none."""

    name: str
    title: str
    origin: str
    link: str
    about: str
    machines: dict[str, SourceMachine]
    tables: tuple[PublishedTable, ...]
    conclusions: tuple[Conclusion, ...]
    pictures: tuple[Picture, ...]
    repeats: int = 0
    advice: str = ""

    @property
    def figures(self) -> Iterator[PublishedFigure]:
        return (figure for table in self.tables for figure in table.figures)

    @property
    def places(self) -> list[FigureKey]:
        """The places of every figure and every statement, each once."""
        formulas = [figure.ours for figure in self.figures if figure.ours]
        formulas += [s.formula for c in self.conclusions for s in c.statements]
        found: dict[str, FigureKey] = {}
        for formula in formulas:
            for place in formula.places:
                found.setdefault(repr(place), place)
        return list(found.values())

    def table(self, name: str) -> PublishedTable:
        return next(table for table in self.tables if table.name == name)


def settle(
    experiment: Experiment, parameters: Mapping[str, Setting], changes: Mapping[str, Setting]
) -> dict[str, Setting]:
    """The whole cell of a place. ``changes`` are settings of this run instead of the report's."""
    return {
        p.name: changes.get(p.name, parameters.get(p.name, (p.default or p.smoke)[0]))
        for p in experiment.parameters
    }
