"""Rows of several kinds in sentences: which leads its kind, in time and in memory."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.analysis.verdicts.gain import PEAK
from heapwise.analysis.verdicts.standing import Standing, standings
from heapwise.evidence import Evidence
from heapwise.model import Experiment, SubjectName
from heapwise.wording.numbers import show

FIRST = {"wall": "fastest", PEAK: "least peak memory"}

GROUPS = {
    "explicit": "explicit",
    "counting": "reference counting",
    "collector": "collectors",
    "region": "pools and arenas",
    "": "others",
}
"""In the order in which they are shown. They never share a ranking."""


def known_group(group: str) -> str:
    """A group of another version counts as one of the others."""
    return group if group in GROUPS else ""


def group_place(group: str) -> int:
    return list(GROUPS).index(known_group(group))


NAMED = 3


def tree_headlines(evidence: Evidence, label: Callable[[Standing], str]) -> list[str]:
    """A line for each kind and cell of the experiments whose rows are of several kinds."""
    lines: dict[tuple[str, str], list[str]] = {}
    for standing in sorted(standings(evidence), key=lambda s: group_place(s.group)):
        if (
            known_group(standing.group)
            and standing.quantity.name in FIRST
            and not has_curves(evidence.experiments[standing.cell.experiment])
        ):
            best = standing.places[standing.best]
            words = (
                f"{FIRST[standing.quantity.name]} {leaders(standing)} "
                f"({show(best.median, standing.quantity.unit)})"
            )
            cell = label(standing).replace(f" {standing.quantity.name}", "")
            lines.setdefault((cell, standing.group), []).append(words)
    return [
        f"{cell}: {GROUPS[group]}: {', '.join(words)}" for (cell, group), words in lines.items()
    ]


def has_curves(experiment: Experiment) -> bool:
    """Its rows are points of curves, and the first among points says nothing of a runtime."""
    return any(SubjectName.parse(spec.name).point for spec in experiment.subjects)


def leaders(standing: Standing) -> str:
    """The best of its kind, and those that cannot be told from it."""
    names = [standing.best, *(n for n in standing.level() if n != standing.best)]
    if len(names) == 1:
        return names[0]
    more = f" or {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{' or '.join(names[:NAMED])}{more}"
