"""The page of real programs: a row for each program, a column for each way to run it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from heapwise.document.markdown import table
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
    ways = list(Way)
    lines = [
        [each.name, each.title, *(_cell(found.get((each.name, way))) for way in ways)]
        for each in programs
    ]
    head = [
        "<!-- Made by `python -m world --page FILE`; do not edit. -->",
        "",
        "# Real programs",
        "",
        INTRODUCTION,
        "",
        _counted(programs, found),
        "",
    ]
    whole = [*head, *table(["program", "what it does", *(way.value for way in ways)], lines), ""]
    for verdict, title in (("refused", "Refusals"), ("fail", "Failures")):
        told = _told(programs, found, verdict)
        whole += [f"## {title}", "", *(told or ["None."]), ""]
    return "\n".join(whole)


def _cell(judgement: Judgement | None) -> str:
    if judgement is None or judgement.verdict == "not run":
        return "-"
    return f"**{judgement.verdict}**" if judgement.verdict == "fail" else judgement.verdict


def _counted(programs: Sequence[Program], found: Mapping[tuple[str, Way], Judgement]) -> str:
    verdicts = Counter(judgement.verdict for judgement in found.values())
    told = ", ".join(f"{verdict}: {verdicts[verdict]}" for verdict in ("pass", "refused", "fail"))
    return f"Programs: {len(programs)}. Runs: {told}."


def _told(
    programs: Sequence[Program],
    found: Mapping[tuple[str, Way], Judgement],
    verdict: str,
) -> list[str]:
    """A line for each reason, with the ways that have it."""
    lines = []
    for program in programs:
        reasons: dict[str, list[str]] = {}
        for way in Way:
            judgement = found.get((program.name, way))
            if judgement and judgement.verdict == verdict:
                reasons.setdefault(_shown(judgement.reason), []).append(way.value)
        lines += [
            f"- `{program.name}` ({', '.join(ways)}): `{reason}`"
            for reason, ways in reasons.items()
        ]
    return lines


def _shown(reason: str) -> str:
    """One line, without folders."""
    words = FOLDER.sub("", " ".join(reason.replace("`", "'").split()))
    return words if len(words) <= MOST_WORDS else words[:MOST_WORDS] + " ..."
