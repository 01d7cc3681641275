"""The page of real programs: a row for each program, a column for each way to run it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from heapwise.document import Heading, Passage, Sentence, SentenceList, plain_table
from heapwise.document.markdown import markdown_page
from world.judge import Judgement
from world.program import Program
from world.results import Result
from world.way import Way

INTRODUCTION = """\
Programs and libraries that others wrote, each run plainly, with the heap's profiles preloaded, with
the library that counts calls, under `heapwise record`, `record --profile` and `heapwise compare`.
*pass*: the same output and the same exit status as without Heapwise. *refused*: the laboratory says
that it cannot measure the program, and gives the true reason, which is below the table. *fail*: it
is below the table, too. *-*: it was not run. A declaration that fails stays in the list.

[How to add a program](../how-to/add-real-program.md) says how these are declared and run."""

FOLDER = re.compile(r"/\S*/(?=[^\s/]+(?:[\s:,.]|$))")
"""Folders of the machine in which the tests ran are of no use to a reader."""
MOST_WORDS = 200


def page(programs: Sequence[Program], results: Iterable[Result]) -> str:
    """As Markdown."""
    found = {(each.program, each.way): each.judgement for each in results}
    verdicts = Counter(judgement.verdict for judgement in found.values())
    counts = ", ".join(f"{verdict}: {verdicts[verdict]}" for verdict in ("pass", "refused", "fail"))
    lines = [
        [each.name, each.title, *(_cell(found.get((each.name, way))) for way in Way)]
        for each in programs
    ]
    passages: list[Passage] = [
        Sentence(INTRODUCTION),
        Sentence(f"Programs: {len(programs)}. Runs: {counts}."),
        plain_table([["program", "what it does", *(way.value for way in Way)], *lines]),
    ]
    for verdict, title in (("refused", "Refusals"), ("fail", "Failures")):
        told = _told(programs, found, verdict)
        passages += [Heading(title), SentenceList(told) if told else Sentence("None.")]
    made_by = "Made by `python -m world --page FILE`; do not edit."
    return markdown_page("Real programs", passages, made_by)


def _cell(judgement: Judgement | None) -> str:
    if judgement is None or judgement.verdict == "not run":
        return "-"
    return f"**{judgement.verdict}**" if judgement.verdict == "fail" else judgement.verdict


def _told(
    programs: Sequence[Program], found: Mapping[tuple[str, Way], Judgement], verdict: str
) -> list[str]:
    """A line for each reason, with the ways that have it."""
    lines = []
    for program in programs:
        reasons: dict[str, list[str]] = {}
        for way in Way:
            judgement = found.get((program.name, way))
            if judgement and judgement.verdict == verdict:
                reasons.setdefault(_shown(judgement.reason), []).append(way.value)
        name = program.name
        lines += [f"`{name}` ({', '.join(ways)}): `{why}`" for why, ways in reasons.items()]
    return lines


def _shown(reason: str) -> str:
    """One line, without folders."""
    words = FOLDER.sub("", " ".join(reason.replace("`", "'").split()))
    return words if len(words) <= MOST_WORDS else words[:MOST_WORDS] + " ..."
