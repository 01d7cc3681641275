"""Attacks: what each allocator made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heapwise.model import short_name
from heapwise.report.view import View
from heapwise.study.attacks.attack_tables import AttackTable, attack_tables
from heapwise.study.attacks.words import LEGEND, fate_words
from heapwise.wording.names import spaced

TITLE, ORDER = "Attacks", 19


@dataclass(frozen=True)
class ScoreLine:
    subject: str
    protection: str
    stopped: int
    harmless: int
    corrupting: int
    hung: int
    alarms: int


@dataclass(frozen=True)
class AttackWords:
    name: str
    size: int
    words: list[str]


@dataclass(frozen=True)
class AttackBlock:
    experiment: str
    question: str
    names: list[str]
    scores: list[ScoreLine]
    attacks: list[AttackWords]


def build(view: View) -> dict[str, Any] | None:
    blocks = [_block(table, view) for table in attack_tables(view.result)]
    return {"blocks": blocks, "legend": LEGEND} if blocks else None


def _block(table: AttackTable, view: View) -> AttackBlock:
    questions = {experiment.id: experiment.question for experiment in view.run.experiments}
    scores = []
    for name in table.subjects:
        peer = next((s.peer for s in view.run.plan.subjects if s.name == name), None)
        score = table.score(name)
        scores.append(
            ScoreLine(
                short_name(name),
                peer.protection if peer else "plain",
                score.stopped,
                score.harmless,
                score.corrupting,
                score.hung,
                score.alarms,
            )
        )
    attacks = [
        AttackWords(
            spaced(attack.name),
            attack.size,
            [
                fate_words(attack.fates[name]) if name in attack.fates else "-"
                for name in table.subjects
            ],
        )
        for attack in table.attacks
    ]
    return AttackBlock(
        table.experiment,
        questions[table.experiment],
        [short_name(name) for name in table.subjects],
        scores,
        attacks,
    )
