"""The figures of a published report as its author's program printed them, and their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from math import prod
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec import structs

from heapwise.analysis.verdicts.verdict import Figure, kept
from heapwise.errors import Problem
from heapwise.model import (
    PROCESSOR_TIME,
    AuthorFigure,
    AuthorOutput,
    Conclusion,
    FigureKey,
    Formula,
    PublishedFigure,
    PublishedReport,
    Reproduction,
    Statement,
    Statistic,
)
from heapwise.store import StoredRun
from heapwise.study.reproduce.judged import (
    SIZE_WORDS,
    JudgedConclusion,
    JudgedStatement,
    SizeVerdict,
    size_together,
    together,
    verdict_of,
)
from heapwise.study.reproduce.ours import Ours

AUTHORS_PROGRAM = "the author's program"
OF_TABLE: dict[str, Statistic] = {"spread": "sd", "peak": "max"}
"""Statistic of a formula -> the column of a report that has it before it is divided."""

A_SECOND = "/s"
FILE = "file"
ANY = "*"
"""In a text of a report's file: any letters."""

SHOWN = 5
"""Records that a message names, at most."""


def demand_figures(report: PublishedReport, outputs: Sequence[AuthorOutput]) -> None:
    """Problem E015 if the report says of no figure where it is, or a file has none of them."""
    wanted = [figure.author for figure in report.figures if figure.author]
    if outputs and not wanted:
        raise Problem(
            "E015",
            f"{report.name} does not say where the output of its program has its figures",
            do="add author = {...} to its file, see docs/how-to/add-published-report.md",
        )
    for output in outputs:
        if not any(_values(author, output) for author in wanted):
            there = ", ".join(_names(output.records)[:SHOWN])
            raise Problem(
                "E015",
                f"{output.file} has no figure of {report.name}; it has {there}",
                do=f"{report.name} knows {_described(wanted[0])}, for example",
            )


def with_author(stored: StoredRun, source: str, outputs: Sequence[AuthorOutput]) -> StoredRun:
    """As if they had been given when the run began; the stored run stays as it is. source: the
    report's name or the path of its file."""
    options = stored.run.plan.options
    planned = options.reproduction or Reproduction(source, {})
    chosen = structs.replace(planned, author_outputs=list(outputs))
    plan = replace(stored.run.plan, options=replace(options, reproduction=chosen))
    return replace(stored, run=replace(stored.run, plan=plan))


class Range(NamedTuple):
    """A figure over the files that have it: the least, the median and the largest."""

    low: float
    middle: float
    high: float

    @property
    def ends(self) -> tuple[float, float] | tuple[None, None]:
        """None if they are one: a single run has no interval."""
        return (self.low, self.high) if self.low < self.high else (None, None)

    def map(self, change: Callable[[float], float]) -> Range:
        return Range(*map(change, self))


class AuthorFigures:
    """Looks for the figures of a report in the files of its author's program."""

    def __init__(self, report: PublishedReport, outputs: Sequence[AuthorOutput]) -> None:
        self._outputs = outputs
        self._wanted = [figure.author for figure in report.figures if figure.author]
        self._places: dict[str, Range] = {}
        """``repr`` of a place -> its figure in the unit of ours."""
        self._rates: set[str] = set()
        """``repr`` of the places whose figure is a number per second."""
        self._quantities = sorted(
            {place.quantity for place in report.places if place.quantity != PROCESSOR_TIME}
        )
        for figure in report.figures:
            self._add(figure)

    def figure(self, figure: PublishedFigure) -> Ours:
        """In the unit of the report; without a value if no file has it."""
        found = self._read(figure.author) if figure.author else None
        if found is None and figure.ours and figure.statistic == "median":
            ratio = self._formula(figure.ours)
            found = ratio and ratio.map(lambda number: (number - figure.offset) / figure.scale)
        if found is None:
            return Ours(None)
        return Ours(found.middle, *found.ends)

    def judge(self, conclusion: Conclusion) -> JudgedConclusion | None:
        """None if the files have the figures of none of its statements."""
        parts = [self._judge(statement) for statement in conclusion.statements]
        if all(part.value is None for part in parts):
            return None
        verdict, reason = together(parts)
        return JudgedConclusion(conclusion, verdict, reason, parts, size_together(parts))

    @property
    def unused(self) -> list[str]:
        """The names of the records that no figure of the report asks for, each once."""
        return _names(
            record
            for output in self._outputs
            for record in output.records
            if not any(_is_of(author, record, output) for author in self._wanted)
        )

    def _add(self, figure: PublishedFigure) -> None:
        place = figure.ours.value_of if figure.ours else None
        found = self._read(figure.author) if figure.author else None
        if place is not None and found is not None:
            in_our_unit = found.map(lambda number: number * figure.scale + figure.offset)
            key = repr(replace(place, statistic=figure.statistic))
            self._places.setdefault(key, in_our_unit)
            if figure.unit.endswith(A_SECOND):
                self._rates.add(key)

    def _read(self, author: AuthorFigure) -> Range | None:
        """The medians of the records of each file that has the figure."""
        runs = [
            median(values) / author.scale
            for output in self._outputs
            if (values := _values(author, output))
        ]
        return Range(min(runs), median(runs), max(runs)) if runs else None

    def _judge(self, statement: Statement) -> JudgedStatement:
        words = statement.words
        found = self._formula(statement.formula)
        if found is None:
            note = f"{AUTHORS_PROGRAM} printed no figure for it"
            unknown: SizeVerdict = "cannot tell here" if statement.size else ""
            return JudgedStatement(words, None, None, None, "cannot tell here", note, unknown)
        figure = Figure(found.middle, found.low, found.high)
        verdict = verdict_of(statement, figure, None)
        low, high = found.ends
        size = SIZE_WORDS[kept(figure, *statement.size, None)] if statement.size else ""
        return JudgedStatement(
            words,
            found.middle,
            low,
            high,
            verdict,
            size=size,
            published=statement.published,
        )

    def _formula(self, formula: Formula) -> Range | None:
        """From the least to the largest value that any files give together. None if a figure is
        missing, or a divisor is 0."""
        above = [self._place(place) for place in formula.above]
        below = [self._place(place) for place in formula.below]
        products = _product(above), _product(below)
        if products[0] is None or products[1] is None or products[1].low <= 0:
            return None
        over, under = products[0], products[1]
        found = Range(over.low / under.high, over.middle / under.middle, over.high / under.low)
        return found.map(lambda number: number * formula.factor)

    def _place(self, place: FigureKey) -> Range | None:
        plain = replace(place, statistic="median")
        if place.quantity == PROCESSOR_TIME and repr(plain) not in self._places:
            return self._only(plain)
        if place.statistic not in OF_TABLE:
            return self._places.get(repr(place))
        scatter = self._places.get(repr(replace(place, statistic=OF_TABLE[place.statistic])))
        middle = self._places.get(repr(plain))
        if scatter is None or middle is None or middle.middle <= 0:
            return None
        return scatter.map(lambda number: number / middle.middle)

    def _only(self, place: FigureKey) -> Range | None:
        """The report has no processor time: the figure that it has of the same operations, if it
        is one. A rate is the inverse of a time."""
        keys = [repr(replace(place, quantity=quantity)) for quantity in self._quantities]
        found = [key for key in keys if key in self._places]
        if len(found) != 1:
            return None
        known = self._places[found[0]]
        if found[0] not in self._rates:
            return known
        if known.low <= 0:
            return None
        return Range(1 / known.high, 1 / known.middle, 1 / known.low)


def _product(factors: Sequence[Range | None]) -> Range | None:
    known = [factor for factor in factors if factor is not None]
    if len(known) < len(factors):
        return None
    return Range(*(prod(factor[at] for factor in known) for at in range(len(Range._fields))))


def _values(author: AuthorFigure, output: AuthorOutput) -> list[float]:
    found = (
        record.get(_column(author, record))
        for record in output.records
        if _is_of(author, record, output)
    )
    return [value for value in found if isinstance(value, float)]


def _column(author: AuthorFigure, record: Mapping[str, float | str]) -> str:
    """The name of its column in this record; "" if it has none."""
    start, star, _ = author.value.partition("*")
    names = (name for name in record if (name.startswith(start) if star else name == start))
    return next(names, "")


def _is_of(author: AuthorFigure, record: Mapping[str, float | str], output: AuthorOutput) -> bool:
    """Whether the record has the text, or the same number, in each column. The column ``file`` is
    the name of the file, in small letters."""
    known = {FILE: Path(output.file).name.lower(), **record}
    return bool(_column(author, record)) and all(
        _is_same(text, known.get(column)) for column, text in author.records.items()
    )


def _is_same(text: str, cell: float | str | None) -> bool:
    if isinstance(cell, str):
        return fnmatchcase(cell, text) if ANY in text else cell == text
    if cell is None:
        return False
    try:
        return float(text) == cell
    except ValueError:
        return False


def _names(records: Iterable[Mapping[str, float | str]]) -> list[str]:
    """A record has the name that its texts make, each once."""
    found = (
        " ".join(cell for cell in record.values() if isinstance(cell, str)) for record in records
    )
    return list(dict.fromkeys(found))


def _described(author: AuthorFigure) -> str:
    """``name BM_Walk/64``."""
    return ", ".join(f"{column} {text}" for column, text in author.records.items()) or author.value
