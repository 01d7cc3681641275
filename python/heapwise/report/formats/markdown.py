"""Markdown: a table per experiment and quantity, for a ticket or a README."""

from __future__ import annotations

from heapwise.report.cells import ColumnCell, cells
from heapwise.report.view import Group, View
from heapwise.wording.lists import counted
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import scale_for
from heapwise.wording.visible import visible

NAME, SUFFIX, MIME = "markdown", "md", "text/markdown"
ABOUT = "tables for a ticket or a README"


ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`*[]"} | {"<": "&lt;", "&": "&amp;", "\r": " "}
)


def write(view: View) -> str:
    result = view.result
    warned = [c for c in result.trust.checks if c.verdict in ("warn", "fail")]
    lines = [
        f"# Heapwise run {view.run.id}",
        "",
        plain_text(result.advice),
        "",
        f"Trust: **{result.trust.verdict}{'' if result.trust.verified else ', unverified'}** "
        f"({counted(len(warned), 'objection')}).",
    ]
    lines += [f"- {c.id} {c.verdict}: {plain_text(c.detail)}" for c in warned]
    lines += ["", *(f"- {plain_text(line)}" for line in result.headlines)]
    for group in view.groups:
        if any(row.max for row in group.rows) or any(row.median is None for row in group.rows):
            lines += ["", *_table(group)]
    return "\n".join(lines) + "\n"


def _table(group: Group) -> list[str]:
    scale = scale_for([row.min for row in group.rows], group.unit)
    cell = cell_words(group.parameters)
    title = f"{group.experiment.id}: {quantity_name(group.quantity)}"
    unit = f" ({scale.label})" if scale.label else ""
    return [
        f"## {plain_text(title)}{plain_text(f', {cell}' if cell else '')}",
        "",
        f"| subject | n | min | median{unit} | mean | max | sd | 95 % of median | "
        f"vs {plain_text(group.experiment.baseline)} | 95 % |",
        "|---|--:|--:|--:|--:|--:|--:|---|---|---|",
        *(_line(c) for c in cells(group, scale, with_strip=False).values()),
    ]


def _line(cell: ColumnCell) -> str:
    figures = [cell.figures[name] for name in ("min", "median", "mean", "max", "stddev")]
    words = [cell.row.subject, str(cell.row.n), *figures, cell.ends, cell.relation, cell.interval]
    return f"| {' | '.join(map(plain_text, words))} |"


def plain_text(words: str) -> str:
    """Names come from files that others made: they stay text, and stay in their cell."""
    return " ".join(visible(part) for part in words.translate(ESCAPES).split("\n"))
