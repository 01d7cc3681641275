"""The first thing one sees: the sentence, whether to trust it, and the picture."""

from __future__ import annotations

import re
from collections import Counter

from markupsafe import Markup, escape

from heapwise.analysis.speed_memory import speed_memory
from heapwise.analysis.summary.advice import busy_words
from heapwise.analysis.summary.speed import speed_quantity
from heapwise.analysis.verdicts.standing import are_many_questions
from heapwise.document.html import drawing
from heapwise.figures import forest, tradeoff
from heapwise.model import SIDE_BY_SIDE, Verdict
from heapwise.report.context import Context
from heapwise.report.sections import heaps, trees
from heapwise.report.view import View
from heapwise.wording.names import quantity_name
from heapwise.wording.verbs import verb_names

TITLE, ORDER = "", 10

COMMAND = re.compile(rf"(?<![\w@])heapwise (?:{'|'.join(verb_names())}) \w+(?: --\w+ \w+)*")
"""One of the allocators is called heapwise too."""

TRADEOFF = (
    "with its 95 % intervals; the ring is the baseline. Down and left is better. Inside the shade "
    "nothing can be told from noise; the grey cross is the baseline measured a second time."
)

HEADLINE = 200
"""The letters that are read at a glance, also on a phone."""

BETWEEN_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")

BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")

SIDE_BY_SIDE_WORDS = " The time is CPU time, of processes that ran side by side."

COUNTED: dict[Verdict, str] = {"warn": "warned", "fail": "failed", "unavailable": "unavailable"}

WORDS = {"pass": "yes", "warn": "not quite", "fail": "no", "unavailable": "unavailable"}


def build(view: View) -> Context | None:
    picture, caption = _picture(view)
    checks = view.result.trust.checks
    first = [check for check in checks if check.id in ("V1", "V5", "V8", "V9")]
    counts = Counter(check.verdict for check in checks)
    headline, lead = headline_and_lead(view)
    return {
        "headline": _with_commands(headline),
        "lead": _with_commands(lead),
        "words": WORDS,
        "reasons": view.result.trust.objections or first,
        "counts": [f"{counts['pass']} checks passed"]
        + [f"{counts[verdict]} {word}" for verdict, word in COUNTED.items() if counts[verdict]],
        "picture": drawing(picture),
        "caption": caption,
    }


def headline_and_lead(view: View) -> tuple[str, str]:
    """The answer in large letters, and what else there is to say of it: first that the machine was
    busy."""
    busy = busy_words(view.evidence, view.result.rows, view.result.trust)
    advice = view.result.advice.removeprefix(busy)
    is_busy = advice != view.result.advice
    sentences = BETWEEN_SENTENCES.split(advice)
    headline = sentences.pop(0)
    while sentences and len(headline) + 1 + len(sentences[0]) <= HEADLINE:
        headline += f" {sentences.pop(0)}"
    return headline, " ".join([*([busy.strip()] if is_busy else []), *sentences])


def _with_commands(sentence: str) -> Markup:
    """A command in it is one to copy: never broken, and set as one. Nor is a number parted from
    its unit."""
    whole = BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", sentence)
    return Markup(COMMAND.sub(r"<code>\g<0></code>", str(escape(whole))))


def _cell_words(view: View) -> str:
    """Which cell the picture is of, where there are several."""
    cells = list(dict.fromkeys(group.parameters for group in view.groups))
    return f"At {cells[0]}. " if len(cells) > 1 else ""


def _picture(view: View) -> tuple[str, str]:
    speed = speed_quantity(view.result.rows)
    quick, small = view.group(speed), view.group("peak_memory")
    if quick and small:
        points = tradeoff.points_of(quick.rows, small.rows, view.evidence.control_names)
        if len(points) > 1:
            what = "a row of the table" if view.evidence.compares_builds else "an allocator"
            words = f"{_cell_words(view)}Each cross is {what} {TRADEOFF}"
            words += SIDE_BY_SIDE_WORDS if speed == SIDE_BY_SIDE else ""
            return tradeoff.draw(points, view.floor(quick), view.floor(small)), words
    over_all = None if view.is_compare else speed_memory(view.evidence, heaps.FAMILY)
    if over_all and len(over_all.spots) > 1 and not view.run.plan.smoke:
        return heaps.picture(over_all), heaps.caption(over_all)
    if found := trees.picture(view):
        return found
    for group in [] if are_many_questions(view.evidence) else view.groups:
        if any(row.ratio for row in group.rows):
            name = f"{group.experiment.id} {quantity_name(group.quantity)}"
            words = f"{name}, relative to {group.experiment.baseline}: ratio with 95 % interval."
            drawn = forest.draw(group.rows, name, view.floor(group))
            return drawn, f"{words} {group.better_side}"
    return "", ""
