"""``published/<name>.toml``: what a report of others says, and which of our figures answer it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import structs

from heapwise.catalog.author_output.keys import author_figure
from heapwise.catalog.formula import PrintedFigures, parse_formula, parse_statement
from heapwise.errors import Problem
from heapwise.model import (
    EXPERIMENT_ID,
    Conclusion,
    FigureKey,
    Formula,
    Picture,
    PublishedFigure,
    PublishedReport,
    PublishedRow,
    PublishedTable,
    Setting,
    Source,
    SourceMachine,
    Statement,
    Statistic,
)

HOW_TO = "see docs/how-to/add-published-report.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NOT_PUBLISHED = "-"
A_SECOND = "/s"


class Part(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """What a table, a row or a column knows of where the figures are. A column overrides a row, and
    a row the table. ``over``: what is different in the divisor of a ratio. ``unit``, ``scale`` and
    ``offset``: see ``PublishedFigure``."""

    experiment: str | None = None
    subject: str | None = None
    quantity: str | None = None
    parameters: dict[str, Setting] = {}
    over: dict[str, Any] | None = None
    statistic: Statistic | None = None
    unit: str | None = None
    scale: float | None = None
    offset: float | None = None
    reason: str | None = None
    author: dict[str, str | float] = {}


class ColumnPart(Part, frozen=True):
    title: str = ""


class RowPart(Part, frozen=True):
    """``values``: a number or a text for each column; without any, and where one is "", our figure
    stands alone. ``ours``: a formula for each, "" for none; it goes before the keys of the
    place. ``name``: of the first figure, for formulas."""

    title: str = ""
    values: list[float | int | str] = []
    name: str = ""
    note: str = ""
    ours: list[str] = []


class TablePart(Part, frozen=True):
    """``grid``: parameter -> values; each combination is one row more, with our figures alone."""

    name: str = ""
    title: str = ""
    machine: str = ""
    rows_are: str = ""
    columns: list[ColumnPart] = []
    row: list[RowPart] = []
    grid: dict[str, list[Setting]] = {}


class ConclusionPart(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    says: str
    topic: str = ""
    shows: list[str] = []
    impossible: str = ""
    processors: int = 1
    source: Source = "text"


class PicturePart(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    name: str
    title: str
    table: str
    kind: Literal["dots", "lines"] = "dots"
    rows: str = ""


class PlacePart(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    experiment: str
    subject: str
    quantity: str
    parameters: dict[str, Setting] = {}


class ReportDocument(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    title: str
    origin: str
    machine: dict[str, SourceMachine]
    table: list[TablePart]
    link: str = ""
    about: str = ""
    advice: str = ""
    repeats: Annotated[int, msgspec.Meta(ge=2)] | None = None
    place: dict[str, PlacePart] = {}
    conclusion: list[ConclusionPart] = []
    picture: list[PicturePart] = []


def read_published(path: Path) -> PublishedReport:
    """Problem E008 for a file that is not as it should be."""
    try:
        document = msgspec.convert(tomllib.loads(path.read_text("utf-8")), ReportDocument)
        return _report(path.stem, document)
    except (OSError, ValueError) as error:
        raise Problem(
            "E008", f"{path} does not hold a published report: {error}", do=HOW_TO
        ) from error


def _report(name: str, document: ReportDocument) -> PublishedReport:
    places = {
        key: FigureKey(part.experiment, part.subject, part.quantity, part.parameters)
        for key, part in document.place.items()
    }
    _add_rows(places, document)
    for key, place in places.items():
        if not re.fullmatch(r"[a-z]\w*", key):
            raise ValueError(
                f"the name '{key}' of a figure is not a small letter, then letters, digits and _"
            )
        if not re.fullmatch(EXPERIMENT_ID, place.experiment):
            raise ValueError(f"'{place.experiment}' is not the id of an experiment")
    tables = tuple(_table(part, places, document) for part in document.table)
    printed = _printed(places, tables)
    rates = _rates(places, tables)
    conclusions = tuple(_conclusion(part, places, printed, rates) for part in document.conclusion)
    return PublishedReport(
        name,
        document.title,
        " ".join(document.origin.split()),
        document.link,
        " ".join(document.about.split()),
        document.machine,
        tables,
        conclusions,
        tuple(_pictures(document, tables)),
        document.repeats or 0,
        document.advice,
    )


def _add_rows(places: dict[str, FigureKey], document: ReportDocument) -> None:
    """The first figure of each row that has a name."""
    for table in document.table:
        for row in table.row:
            if not row.name:
                continue
            if row.name in places:
                raise ValueError(f"two figures have the name '{row.name}'")
            merged = _merged(table, row, _columns(table)[0])
            place = _place(merged)
            if place is None:
                raise ValueError(
                    f"row '{row.title}' has the name '{row.name}', but does not say "
                    "experiment, subject and quantity"
                )
            places[row.name] = place


def _printed(
    places: dict[str, FigureKey], tables: tuple[PublishedTable, ...]
) -> dict[str, dict[str, float]]:
    """Machine of the report -> name of a place -> its figure there, in the unit of ours."""
    found: dict[str, dict[str, float]] = {}
    for table in tables:
        for figure in table.figures:
            place = figure.ours.value_of if figure.ours else None
            if place is None or figure.value is None or figure.statistic != "median":
                continue
            of_one = found.setdefault(table.machine, {})
            for name, known in places.items():
                if known == place:
                    of_one.setdefault(name, figure.value * figure.scale + figure.offset)
    return found


def _rates(places: dict[str, FigureKey], tables: tuple[PublishedTable, ...]) -> set[str]:
    """Names of places whose figure is a number per second, by the unit of the report."""
    in_a_second = {
        repr(figure.ours.value_of)
        for table in tables
        for figure in table.figures
        if figure.ours and figure.unit.endswith(A_SECOND)
    }
    return {name for name, place in places.items() if repr(place) in in_a_second}


def _table(
    table: TablePart, places: dict[str, FigureKey], document: ReportDocument
) -> PublishedTable:
    lines = [*table.row, *_grid(table)]
    if not table.name or not table.title or not lines:
        raise ValueError(f"table '{table.name or table.title}' needs a name, a title and rows")
    if table.machine not in document.machine:
        raise ValueError(
            f"table '{table.name}' was measured on '{table.machine}', and there is no "
            f"[machine.{table.machine}]"
        )
    columns = _columns(table)
    rows = []
    for row in lines:
        where = f"table '{table.name}', row '{row.title}'"
        values = row.values or [""] * len(columns)
        if len(values) != len(columns) or len(row.ours) not in (0, len(columns)):
            raise ValueError(f"{where}: each of its {len(columns)} columns needs a value")
        try:
            figures = [
                replace(
                    _figure(
                        merged := _merged(table, row, column),
                        value,
                        row.ours[at] if row.ours else None,
                        places,
                    ),
                    author=author_figure(merged.author, _words(merged, row)),
                )
                for at, (column, value) in enumerate(zip(columns, values, strict=True))
            ]
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        rows.append(PublishedRow(row.title, tuple(figures), " ".join(row.note.split())))
    return PublishedTable(
        table.name,
        table.title,
        table.machine,
        table.rows_are,
        tuple(column.title for column in columns),
        tuple(rows),
    )


def _grid(table: TablePart) -> Iterator[RowPart]:
    for values in product(*table.grid.values()) if table.grid else ():
        yield RowPart(
            title=", ".join(map(str, values)), parameters=dict(zip(table.grid, values, strict=True))
        )


def _columns(table: TablePart) -> list[ColumnPart]:
    return table.columns or [ColumnPart(title=table.unit or "")]


def _merged(*parts: Part) -> Part:
    """Later ones override; parameters and columns of the author's output one by one."""
    found = Part()
    for part in parts:
        values = {name: getattr(part, name) for name in Part.__struct_fields__}
        known = {name: value for name, value in values.items() if value is not None}
        known["parameters"] = {**found.parameters, **part.parameters}
        known["author"] = {**found.author, **part.author}
        found = structs.replace(found, **known)
    return found


def _place(merged: Part) -> FigureKey | None:
    if not merged.experiment or not merged.subject or not merged.quantity:
        return None
    return FigureKey(merged.experiment, merged.subject, merged.quantity, merged.parameters)


def _figure(
    merged: Part,
    printed: float | int | str,
    ours: str | None,
    places: dict[str, FigureKey],
) -> PublishedFigure:
    text = str(printed) or NOT_PUBLISHED
    number = NUMBER.search(text) if isinstance(printed, str) else None
    value = (float(number[0]) if number else None) if isinstance(printed, str) else float(printed)
    reason = merged.reason or ""
    if ours is None and not reason:
        formula = _ratio(merged) if value is not None or printed == "" else None
    else:
        formula = parse_formula(ours, places) if ours else None
    if formula is None and value is not None and not reason:
        raise ValueError(
            "it names no figure of ours (experiment, subject and quantity, or ours), "
            "and no reason why there is none"
        )
    return PublishedFigure(
        text,
        value,
        merged.unit or "",
        formula,
        merged.statistic or "median",
        1.0 if merged.scale is None else merged.scale,
        merged.offset or 0.0,
        reason,
    )


def _words(merged: Part, row: RowPart) -> dict[str, object]:
    return {**merged.parameters, "title": row.title, "note": row.note}


def _ratio(merged: Part) -> Formula | None:
    place = _place(merged)
    if place is None or merged.over is None:
        return Formula((place,)) if place else None
    try:
        other = msgspec.convert(merged.over, Part)
    except ValueError as error:
        raise ValueError(f"over: {error}") from error
    below = _place(_merged(merged, other))
    return Formula((place,), (below,)) if below else None


def _conclusion(
    part: ConclusionPart, places: dict[str, FigureKey], printed: PrintedFigures, rates: set[str]
) -> Conclusion:
    if bool(part.shows) == bool(part.impossible):
        raise ValueError(
            f"conclusion '{part.says}' needs either shows, or impossible with the reason"
        )
    try:
        statements: list[Statement] = [
            parse_statement(words, places, printed, rates) for words in part.shows
        ]
    except ValueError as error:
        raise ValueError(f"conclusion '{part.says}': {error}") from error
    return Conclusion(
        part.topic,
        " ".join(part.says.split()),
        tuple(statements),
        " ".join(part.impossible.split()),
        part.processors,
        part.source,
    )


def _pictures(document: ReportDocument, tables: tuple[PublishedTable, ...]) -> Iterator[Picture]:
    """Those declared; without any, one of each table."""
    names = [table.name for table in tables]
    if repeated := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"two tables have the name '{repeated}'")
    for part in document.picture:
        if part.table not in names:
            raise ValueError(
                f"picture '{part.name}' is of table '{part.table}', and there is no such table"
            )
        titles = [row.title for table in tables if table.name == part.table for row in table.rows]
        if not any(title.startswith(part.rows) for title in titles):
            raise ValueError(
                f"picture '{part.name}': no row of its table begins with '{part.rows}'"
            )
        yield Picture(part.name, part.title, part.table, part.kind, part.rows)
    if not document.picture:
        yield from (Picture(table.name, table.title, table.name) for table in tables)
