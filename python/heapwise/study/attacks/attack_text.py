"""Attacks as text: what each allocator made of them, in all and one by one."""

from __future__ import annotations

from heapwise.document.aligned import align
from heapwise.model import Fate, Result, short_name
from heapwise.study.attacks.attack_tables import AttackTable, attack_tables

LEGEND = (
    "stop: ended in the deed; late: ended later; -: harmless; CORR: its effect was seen, "
    "nothing stopped it; mixed: not all attempts ended alike"
)


def attack_text(result: Result) -> str:
    """Empty if the run has no attacks."""
    return "\n\n".join(_text(table, result) for table in attack_tables(result))


def _text(table: AttackTable, result: Result) -> str:
    numbers = {name: str(place) for place, name in enumerate(table.subjects, start=1)}
    scores = {name: table.score(name) for name in table.subjects}
    head = ["", table.experiment, "stopped", "harmless", "corrupting", "hung", "false alarms"]
    lines = [
        [
            numbers[name],
            marked(name, result),
            str(score.stopped),
            str(score.harmless),
            str(score.corrupting),
            str(score.hung),
            str(score.alarms),
        ]
        for name, score in scores.items()
    ]
    each = [["attack", "bytes", *numbers.values()]]
    each += [
        [attack.name, str(attack.size), *(_code(attack.fates.get(name)) for name in table.subjects)]
        for attack in table.attacks
    ]
    return "\n".join([align([head, *lines]), "", align(each), LEGEND])


def marked(subject: str, result: Result) -> str:
    """The name, and how far its makers built it to resist, if they did."""
    peer = next((s.peer for s in result.run.plan.subjects if s.name == subject), None)
    name = short_name(subject)
    return name if peer is None or peer.protection == "plain" else f"{name} ({peer.protection})"


def _code(fate: Fate | None) -> str:
    if fate is None:
        return ""
    if fate.corrupted == 1:
        return "CORR"
    if fate.corrupted > 0:
        return f"CORR {100 * fate.corrupted:.0f}%"
    for share, word in (
        (fate.at_once, "stop"),
        (fate.later, "late"),
        (fate.hung, "hung"),
        (fate.harmless, "-"),
    ):
        if share == 1:
            return word
    return "mixed"
