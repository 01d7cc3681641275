"""Row by row: which is best, and how far the others are behind. Every subject is treated alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heapwise.analysis.verdicts.gain import gain, is_quantile, is_speed, quantity_of
from heapwise.analysis.verdicts.lead import bias_of_best
from heapwise.analysis.verdicts.rows import place
from heapwise.analysis.verdicts.verdict import judge
from heapwise.evidence import Evidence, comparisons_of, ranking_of
from heapwise.evidence.claims import LEVEL
from heapwise.evidence.failures_beside import failed_beside
from heapwise.model import Cell, Quantity
from heapwise.stats.claims.false_discovery import benjamini_hochberg

Aspect = Literal["speed", "latency", "memory", "other"]

MEMORY_WORDS = ("resident", "overhead", "peak_memory", "memory")

NOT_RANKED = ("peak_live", "moved")
"""What the workload itself does, which is the same for all; and what explains a figure of the same
experiment, where it costs time or memory."""

FAMILIES = 3
"""More groups of experiments, each with subjects of its own, are no one question."""


@dataclass(frozen=True)
class Rank:
    """median: of the rounds. behind: how many times worse than the best, 1 for the best itself; no
    unit. low, high: its 95 % interval, None without one. Both allow for the choice of the best.

    level: the pairs cannot tell it from the best. p_value: of "it is as good as the best".
    aside: it is not ranked, and may be better than the best that is (``behind`` under 1).
    """

    subject: str
    median: float
    behind: float | None
    low: float | None
    high: float | None
    level: bool
    p_value: float = 1.0
    aside: bool = False


@dataclass(frozen=True)
class Standing:
    """One cell and quantity, of one group of subjects; ``best`` has the best median."""

    cell: Cell
    quantity: Quantity
    aspect: Aspect
    best: str
    places: dict[str, Rank]
    group: str = ""

    def level(self) -> list[str]:
        """The best, and those that are level with it."""
        return [name for name, place in self.places.items() if place.level]

    @property
    def p_alone(self) -> float:
        """The p-value of "another is as good as the best"."""
        return max(
            (
                place.p_value
                for name, place in self.places.items()
                if name != self.best and not place.aside
            ),
            default=1.0,
        )


def standings(evidence: Evidence, family: str | None = None) -> list[Standing]:
    """Every cell that at least two subjects were measured in, in reading order."""
    return [
        standing
        for standing in evidence.once(_standings)
        if family in (None, evidence.experiments[standing.cell.experiment].family)
    ]


def _standings(evidence: Evidence) -> list[Standing]:
    found: list[Standing] = []
    for experiment in evidence.stored.run.experiments:
        if not experiment.is_ranked:
            continue
        cells = [c for c in evidence.cells[experiment.id] if not c.is_diagnostic]
        for cell in sorted(cells, key=lambda c, e=experiment: place(e, c)):  # type: ignore[misc]
            found += filter(
                None, (_standing(evidence, cell, group) for group in _groups(evidence, cell))
            )
    return found


def alone(found: list[Standing]) -> list[Standing]:
    """Those whose best is told from all others, also if all of ``found`` are claimed at once."""
    chances = benjamini_hochberg([standing.p_alone for standing in found])
    return [
        standing
        for standing, chance in zip(found, chances, strict=True)
        if chance < LEVEL and standing.level() == [standing.best]
    ]


def families(found: list[Standing]) -> list[list[Standing]]:
    """Experiments together that share half of their subjects, in reading order."""
    of_experiment: dict[str, list[Standing]] = {}
    for standing in found:
        of_experiment.setdefault(standing.cell.experiment, []).append(standing)
    together: list[tuple[set[str], list[Standing]]] = []
    for rows in of_experiment.values():
        names = {name for row in rows for name in row.places}
        for known, family in together:
            if 2 * len(known & names) >= max(len(known), len(names)):
                known |= names
                family += rows
                break
        else:
            together.append((names, list(rows)))
    return [family for _, family in together]


def are_many_questions(evidence: Evidence) -> bool:
    """Whether experiments have so little in common that nothing can be said of all of them."""
    return len(families(standings(evidence))) > FAMILIES


def aspect_of(quantity: Quantity) -> Aspect:
    if is_quantile(quantity):
        return "latency"
    if is_speed(quantity):
        return "speed"
    memory = quantity.unit == "bytes" or any(word in quantity.name for word in MEMORY_WORDS)
    return "memory" if memory else "other"


def _groups(evidence: Evidence, cell: Cell) -> list[str]:
    return sorted(
        {ranking_of(evidence).group_of(cell.experiment, name) for name in evidence.table[cell]}
    )


def _standing(evidence: Evidence, cell: Cell, group: str) -> Standing | None:
    quantity = quantity_of(evidence, cell)
    aside = ranking_of(evidence).never_ranked[cell.experiment]
    row = {
        name: series
        for name, series in evidence.table[cell].items()
        if name not in aside
        and ranking_of(evidence).group_of(cell.experiment, name) == group
        and is_whole(evidence, cell, name)
    }
    ranked = [name for name in row if not ranking_of(evidence).is_aside(cell, name)]
    if len(row) < 2 or not ranked or quantity.name in NOT_RANKED:
        return None
    medians = {name: series.middle for name, series in row.items()}
    best = (max if quantity.better == "higher" else min)(ranked, key=lambda name: medians[name])
    bias = bias_of_best(evidence, cell, best, ranked)
    places = {name: _place(evidence, cell, medians, name, best, bias) for name in row}
    return Standing(cell, quantity, aspect_of(quantity), best, places, group)


def is_whole(evidence: Evidence, cell: Cell, subject: str) -> bool:
    """Not where a process of it crashed or ran out of time: such a subject is never ranked."""
    tried = evidence.tried.get(cell.setup, {}).get(subject, [])
    return (
        all(p.status in ("ok", "interrupted", "discarded") for p in tried)
        and not failed_beside(evidence, cell.setup, [subject])
        and not evidence.planted(cell, subject)
    )


def _place(
    evidence: Evidence, cell: Cell, medians: dict[str, float], name: str, best: str, bias: float
) -> Rank:
    if name == best:
        return Rank(name, medians[name], 1.0, 1.0, 1.0, level=True)
    found, _ = gain(evidence, cell, best, name)
    aside = ranking_of(evidence).is_aside(cell, name)
    if found is None:
        return Rank(
            name,
            medians[name],
            None,
            None,
            None,
            medians[name] == medians[best] and not aside,
            aside=aside,
        )
    if aside:
        return Rank(
            name,
            medians[name],
            found.ratio,
            found.low,
            found.high,
            level=False,
            p_value=found.p_value,
            aside=True,
        )
    ratio = found.less(bias)
    floor = comparisons_of(evidence).floors.get(cell, 0.0)
    level = judge(ratio, "higher", floor) != "better"
    return Rank(
        name, medians[name], max(1.0, ratio.ratio), ratio.low, ratio.high, level, ratio.p_value
    )
