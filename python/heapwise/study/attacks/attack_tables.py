"""What attacks on malloc came to, under each allocator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields

from heapwise.model import ATTACKS, Cell, Fate, Result, Row, name_with_peer

QUANTITIES = (
    "corrupted",
    "stopped_at_once",
    "stopped_later",
    "calls_until_stop",
    "hung",
    "false_alarms",
)
"""What the experiments measure, in the order of the fields of ``Fate``."""


@dataclass(frozen=True)
class Attack:
    """One attack with blocks of one size, in bytes. fates: subject -> what came of it; a subject
    that was not measured is not in it."""

    name: str
    size: int
    fates: dict[str, Fate]


@dataclass(frozen=True)
class Score:
    """Attacks of a table by their worst ending under one subject, and those with a false alarm."""

    stopped: int
    harmless: int
    corrupting: int
    hung: int
    alarms: int

    @property
    def attacks(self) -> int:
        return self.stopped + self.harmless + self.corrupting + self.hung


@dataclass(frozen=True)
class AttackTable:
    experiment: str
    subjects: list[str]
    attacks: list[Attack]

    def score(self, subject: str) -> Score:
        """An attack that corrupts in one attempt of many counts as corrupting."""
        found = [attack.fates[subject] for attack in self.attacks if subject in attack.fates]
        worst = Counter(map(_worst_ending, found))
        counts = [worst[ending] for ending in ("stopped", "harmless", "corrupting", "hung")]
        return Score(*[*counts, sum(fate.alarms > 0 for fate in found)])


def _worst_ending(fate: Fate) -> str:
    shares = {"corrupting": fate.corrupted, "hung": fate.hung, "stopped": fate.stopped}
    return next((ending for ending, share in shares.items() if share > 0), "harmless")


def attack_tables(result: Result) -> list[AttackTable]:
    """One for each experiment of the family; empty if the run has none."""
    return [
        table
        for experiment in result.run.experiments
        if experiment.family == ATTACKS
        if (table := _table(experiment.id, result)).attacks
    ]


def total(tables: Iterable[AttackTable], peer: str) -> Score | None:
    """Over all experiments of attacks; None if the peer was in none."""
    name = name_with_peer("malloc", peer)
    found = [table.score(name) for table in tables if name in table.subjects]
    if not found:
        return None
    return Score(*(sum(getattr(score, each.name) for score in found) for each in fields(Score)))


def _table(experiment: str, result: Result) -> AttackTable:
    rows = [row for row in result.rows if row.experiment == experiment and row.n]
    controls = {subject.name for subject in result.run.plan.subjects if subject.control}
    rows = [row for row in rows if row.subject not in controls]
    subjects = list(dict.fromkeys(row.subject for row in rows))
    cells: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        cells.setdefault(_place(row.cell), []).append(row)
    attacks = [Attack(name, size, _fates(of_cell)) for (name, size), of_cell in cells.items()]
    return AttackTable(experiment, subjects, attacks)


def _place(cell: Cell) -> tuple[str, int]:
    return str(cell.parameters["attack"]), int(str(cell.parameters["size"]))


def _fates(rows: Iterable[Row]) -> dict[str, Fate]:
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.mean is not None:
            values.setdefault(row.subject, {})[row.quantity] = row.mean
    return {
        subject: Fate(*(found[quantity] for quantity in QUANTITIES))
        for subject, found in values.items()
        if found.keys() >= set(QUANTITIES)
    }
