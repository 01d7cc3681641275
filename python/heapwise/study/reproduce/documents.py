"""Every figure of a reproduced report as CSV, and all of it as JSON."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict

from heapwise.document.spreadsheet import cell_text
from heapwise.model import FigureKey, Formula
from heapwise.model.json_value import Json
from heapwise.study.reproduce.judged import JudgedConclusion
from heapwise.study.reproduce.reproduced import Reproduced, ReproducedTable

COLUMNS = (
    "table",
    "row",
    "column",
    "unit",
    "published",
    "ours",
    "low",
    "high",
    "measured",
    "note",
    "author",
)


def figures_csv(found: Reproduced) -> str:
    """A line for each figure; low and high are the ends of the 95 % interval of ours, author is the
    figure of the author's program."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in found.tables:
        for row, ours, author in zip(each.table.rows, each.ours, each.by_author, strict=True):
            columns = zip(each.table.columns, row.figures, ours, author, strict=True)
            for name, figure, own, theirs in columns:
                measured = words(figure.ours) if figure.ours else ""
                values = map(_number, (figure.value, own.value, own.low, own.high))
                writer.writerow(
                    [cell_text(word) for word in (each.table.name, row.title, name, figure.unit)]
                    + list(values)
                    + [cell_text(measured), cell_text(own.note), _number(theirs.value)]
                )
    return file.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def to_json(found: Reproduced, run: str, folder: str, files: list[str]) -> dict[str, Json]:
    """What ``heapwise reproduce NAME --json`` prints."""
    report = found.report
    return {
        "report": report.name,
        "title": report.title,
        "origin": report.origin,
        "run": run,
        "tables": [_table(each) for each in found.tables],
        "conclusions": [
            {
                "topic": judged.conclusion.topic,
                "says": judged.conclusion.says,
                "source": judged.conclusion.source,
                **_verdict(judged),
                "author": _verdict(judged.author) if judged.author else None,
            }
            for judged in found.conclusions
        ],
        "author_files": found.author_files,
        "changes": found.changes,
        "programs": [asdict(row) for row in found.programs],
        "counts": dict(found.counts.items()),
        "sizes": dict(found.size_counts.items()),
        "folder": folder,
        "files": files,
    }


def _table(each: ReproducedTable) -> dict[str, Json]:
    return {
        "name": each.table.name,
        "title": each.table.title,
        "machine": each.table.machine,
        "rows": [
            {
                "title": row.title,
                "figures": [
                    {
                        "column": name,
                        "unit": figure.unit,
                        "published": figure.value,
                        "printed": figure.text,
                        "ours": own.value,
                        "low": own.low,
                        "high": own.high,
                        "note": own.note,
                        "author": theirs.value,
                    }
                    for name, figure, own, theirs in zip(
                        each.table.columns, row.figures, ours, author, strict=True
                    )
                ],
            }
            for row, ours, author in zip(each.table.rows, each.ours, each.by_author, strict=True)
        ],
    }


def _verdict(judged: JudgedConclusion) -> dict[str, Json]:
    return {
        "verdict": judged.verdict,
        "size": judged.size,
        "reason": judged.reason,
        "statements": [
            {
                "words": part.words,
                "value": part.value,
                "low": part.low,
                "high": part.high,
                "verdict": part.verdict,
                "size": part.size,
                "published": list(part.published),
                "note": part.note,
            }
            for part in judged.parts
        ],
    }


def words(formula: Formula) -> str:
    """``pool/bulk unsynchronized alloc_fresh touch=write / ...``."""
    above = " * ".join(map(_place, formula.above))
    return " / ".join([above, *map(_place, formula.below)])


def _place(place: FigureKey) -> str:
    settings = [f"{name}={value}" for name, value in place.parameters.items()]
    return " ".join([place.experiment, place.subject, place.quantity, *settings])
