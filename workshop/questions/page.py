"""The page of a question: the figures as ``heapwise export`` writes them, and what is met."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from heapwise.analysis.verdicts.verdict import Figure, kept
from heapwise.document import Heading, Passage, Sentence, plain_table, under
from heapwise.document.markdown import markdown_page
from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import Row
from heapwise.report import View
from heapwise.report.formats import find_formats
from heapwise.report.pages.machine import machine_table, title_of
from heapwise.store import read_run
from heapwise.wording.numbers import ends
from workshop.questions.ask import Asked
from workshop.questions.question import Aim, Question


def page(name: str, question: Question, asked: Sequence[Asked], folder: Path) -> str:
    """As Markdown. name: of the question. folder: that of ``ask``."""
    views = {
        each.run: View(Evidence(read_run(folder / "store", each.run))) for each in asked if each.run
    }
    first = next(iter(views.values()), None)
    place = f": {title_of(first.run.machine)}" if first else ""
    aims = [row for each in asked for row in _aims(each, views.get(each.run))]
    passages = [
        Sentence(question.introduction.strip()),
        plain_table([["measured", "aim", "here", "verdict"], *aims]),
        *(passage for each in asked for passage in _step(each, views.get(each.run), folder)),
        *under("The machine", [machine_table(first)] if first else []),
    ]
    made_by = f"Made by `python -m workshop ask {name} --page FILE`; do not edit."
    return markdown_page(f"{question.title}{place}", passages, made_by)


def _step(each: Asked, view: View | None, folder: Path) -> list[Passage]:
    command = shlex.join(["heapwise", *each.step.words]).replace(str(folder.absolute()), "FOLDER")
    asked: list[Passage] = [Heading(each.step.heading), Sentence(f"`{command}`")]
    if view is None:
        return [*asked, Sentence(f"Not measured: {each.said}")]
    text = find_formats()["markdown"].write(view)
    body = text.partition("\n")[2] if text.startswith("# ") else text
    measured = Sentence(f"Run {view.run.id} of {view.run.created[:10]}.")
    return [*asked, measured, Sentence(re.sub("^## ", "### ", body.strip(), flags=re.MULTILINE))]


def _aims(each: Asked, view: View | None) -> Iterator[list[str]]:
    for aim in each.step.aims:
        rows = [row for row in view.result.rows if _is_of(row, aim)] if view else []
        label = f"{each.step.heading}: {aim.quantity} of {aim.subject}"
        if view is None or not rows:
            yield [label, _bound(aim), "", "not measured"]
            continue
        for row in rows:
            yield [label, _bound(aim), _ratio(row), verdict(row, aim, view.evidence)]


def _is_of(row: Row, aim: Aim) -> bool:
    return (row.subject, row.quantity) == (aim.subject, aim.quantity) and row.ratio is not None


def verdict(row: Row, aim: Aim, evidence: Evidence) -> str:
    """By the 95 % interval of the row's ratio, and the noise floor of its cell."""
    if row.ratio is None:
        return "not measured"
    figure = Figure(row.ratio, row.ratio_low, row.ratio_high)
    return kept(figure, aim.at_least, aim.at_most, comparisons_of(evidence).floors.get(row.cell))


def _bound(aim: Aim) -> str:
    parts = [f"at least {aim.at_least:g}x"] if aim.at_least else []
    parts += [f"at most {aim.at_most:g}x"] if aim.at_most is not None else []
    return ", ".join(parts)


def _ratio(row: Row) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return f"{row.ratio:.3g}x, no interval"
    return f"{row.ratio:.3g}x (95 % CI {ends(row.ratio_low, row.ratio_high)})"
