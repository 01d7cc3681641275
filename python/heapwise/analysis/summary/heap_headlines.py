"""The heap family in sentences: which is fastest or leanest in which rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from heapwise.analysis.verdicts.gain import PEAK
from heapwise.analysis.verdicts.standing import Standing, alone, standings
from heapwise.evidence import Evidence
from heapwise.wording.lists import listed

NAMED = 8
"""Things that a line names before it counts the rest."""

FEW = 3
"""Subjects named of those that share the head of a row."""

Asked = Callable[[Standing], bool]

QUESTIONS: tuple[tuple[str, Asked], ...] = (
    ("fastest", lambda s: s.aspect == "speed"),
    ("shortest waits", lambda s: s.aspect == "latency"),
    ("least peak memory", lambda s: s.quantity.name == PEAK),
    ("leanest by other measures", lambda s: s.aspect == "memory" and s.quantity.name != PEAK),
)


def heap_headlines(evidence: Evidence) -> list[str]:
    """A line for each question."""
    found = standings(evidence, "heap")
    lines = []
    for question, asked in QUESTIONS:
        rows = [s for s in found if asked(s)]
        if rows:
            lines.append(f"{question} of {len(rows)} rows: {_firsts(evidence, rows)}")
    return lines


def _firsts(evidence: Evidence, rows: list[Standing]) -> str:
    """Which subject is alone at the head, and where; then the rows whose head several share."""
    sure = alone(rows)
    first = {name: [s for s in sure if s.best == name] for name in evidence.subjects}
    ranks = sorted((name for name in first if first[name]), key=lambda name: -len(first[name]))
    words = [f"{name} alone in {len(first[name])} ({_experiments(first[name])})" for name in ranks]
    undecided = [s for s in rows if s not in sure]
    if undecided:
        among = Counter(name for s in undecided for name in s.level())
        often = " or ".join(name for name, _ in among.most_common(FEW))
        words.append(f"cannot tell in {len(undecided)} (most often {often})")
    return "; ".join(words)


def _experiments(rows: list[Standing]) -> str:
    """``rl_small 5, pair``: how many rows of each, where there are several."""
    counts = Counter(s.cell.experiment.rpartition("/")[2] for s in rows)
    return _cut([name if n == 1 else f"{name} {n}" for name, n in counts.items()])


def _cut(words: list[str]) -> str:
    return listed(words, NAMED)
