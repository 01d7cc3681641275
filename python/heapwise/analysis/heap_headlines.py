"""The heap family in sentences: which is fastest or leanest in which rows, and where ours loses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from heapwise.analysis.gain import PEAK
from heapwise.analysis.lead import lead
from heapwise.analysis.roles import INLINED, OURS
from heapwise.analysis.standing import Rank, Standing, alone, standings
from heapwise.analysis.verdict import judge
from heapwise.evidence import Evidence
from heapwise.wording.lists import listed
from heapwise.wording.numbers import times

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


def heap_headlines(evidence: Evidence, label: Callable[[Standing], str]) -> list[str]:
    """A line for each question, and one for each of ours. label: names a row."""
    found = standings(evidence, "heap")
    lines = []
    for question, asked in QUESTIONS:
        rows = [s for s in found if asked(s)]
        if rows:
            lines.append(f"{question} of {len(rows)} rows: {_firsts(evidence, rows)}")
    return lines + [
        line for ours in (OURS, INLINED) for line in _losses(evidence, ours, found, label)
    ]


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


def _losses(
    evidence: Evidence, ours: str, found: list[Standing], label: Callable[[Standing], str]
) -> list[str]:
    """Every row where the pairs show a rival ahead, the worst first; ours are not rivals.

    Each by itself: an adjustment for their number would hide losses.
    """
    mine = 0
    lost: list[tuple[float, str]] = []
    for standing in found:
        rival = _best_rival(standing)
        if ours not in standing.places or rival is None:
            continue
        mine += 1
        rivals = [name for name in standing.places if name not in (OURS, INLINED)]
        ratio = lead(evidence, standing.cell, rival.subject, rivals, ours)
        if ratio and judge(ratio, "higher", evidence.floors.get(standing.cell)) == "better":
            lost.append(
                (ratio.ratio, f"{label(standing)} ({times(ratio.ratio)} behind {rival.subject})")
            )
    if not mine:
        return []
    if not lost:
        return [f"{ours} loses: in none of {mine} rows is another shown to be better"]
    return [
        f"{ours} loses: in {len(lost)} of {mine} rows: "
        f"{_cut([words for _, words in sorted(lost, reverse=True)])}"
    ]


def _best_rival(standing: Standing) -> Rank | None:
    rivals: Iterable[Rank] = (
        p for name, p in standing.places.items() if name not in (OURS, INLINED)
    )
    choose = max if standing.quantity.better == "higher" else min
    return choose(rivals, key=lambda place: place.median, default=None)
