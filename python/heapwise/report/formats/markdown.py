"""Markdown: a table per experiment and quantity, for a ticket or a README."""

from __future__ import annotations

from heapwise.document import Heading, Passage, Sentence, SentenceList
from heapwise.document.markdown import markdown
from heapwise.report.view import View
from heapwise.study.experiments.cell_tables import cell_table
from heapwise.wording.lists import counted
from heapwise.wording.visible import visible

NAME, SUFFIX, MIME = "markdown", "md", "text/markdown"
ABOUT = "tables for a ticket or a README"


ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`*[]"} | {"<": "&lt;", "&": "&amp;", "\r": " "}
)


def write(view: View) -> str:
    result = view.result
    warned = result.trust.objections
    passages: list[Passage] = [
        Sentence(result.advice),
        SentenceList([f"{c.id} {c.verdict}: {c.detail}" for c in warned]),
        SentenceList(result.headlines),
    ]
    for group in view.groups:
        if any(row.max for row in group.rows) or any(row.median is None for row in group.rows):
            heading = Heading(f"{group.experiment.id}: {group.title()}")
            passages += [heading, cell_table(group.experiment, group.rows)]
    lines = [
        f"# Heapwise run {view.run.id}",
        "",
        f"Trust: **{result.trust.words}** ({counted(len(warned), 'objection')}).",
        "",
        *markdown(passages, plain=plain_text),
    ]
    return "\n".join(lines).rstrip() + "\n"


def plain_text(words: str) -> str:
    """Names come from files that others made: they stay text, and stay in their cell."""
    return " ".join(visible(part) for part in words.translate(ESCAPES).split("\n"))
