"""What is told about attacks: what each allocator made of them, in all and one by one."""

from __future__ import annotations

from dataclasses import astuple, replace

from heapwise.document import (
    Heading,
    Notice,
    Passage,
    TextOrCell,
    TextTable,
    plain_table,
    table_cell,
)
from heapwise.evidence import Evidence
from heapwise.model import Result, short_name
from heapwise.study.attacks.attack_tables import AttackTable, attack_tables
from heapwise.study.attacks.words import LEGEND, fate_word, fate_words
from heapwise.study.section import Section
from heapwise.wording.names import spaced

SCORES = ["stopped", "harmless", "corrupting", "hung", "false alarms"]


def attack_passages(result: Result) -> list[Passage]:
    """Empty if the run has no attacks."""
    questions = {experiment.id: experiment.question for experiment in result.run.experiments}
    passages: list[Passage] = []
    for table in attack_tables(result):
        passages += [Heading(questions[table.experiment]), _scores(table, result), _each(table)]
    return [*passages, Notice(LEGEND)] if passages else []


def protection_of(subject: str, result: Result) -> str:
    """How far the makers of its allocator built it to resist."""
    peer = next((s.peer for s in result.run.plan.subjects if s.name == subject), None)
    return peer.protection if peer else "plain"


def _scores(table: AttackTable, result: Result) -> TextTable:
    rows: list[list[TextOrCell]] = [
        [
            table_cell(short_name(name), f"{place}  {short_name(name)}"),
            protection_of(name, result),
            *map(str, astuple(table.score(name))),
        ]
        for place, name in enumerate(table.subjects, start=1)
    ]
    return plain_table(
        [["allocator", "built to resist", *SCORES], *rows],
        f"{table.experiment}: number of attacks by their worst ending. How far an allocator is "
        "built to resist is what its makers say.",
    )


def _each(table: AttackTable) -> TextTable:
    """Where there is little room, the columns have the numbers of the table above."""
    names = [
        table_cell(short_name(name), str(place))
        for place, name in enumerate(table.subjects, start=1)
    ]
    rows: list[list[TextOrCell]] = []
    for attack in table.attacks:
        fates = [attack.fates.get(name) for name in table.subjects]
        endings = [table_cell(fate_words(fate), fate_word(fate)) if fate else "-" for fate in fates]
        rows.append([spaced(attack.name), str(attack.size), *endings])
    return replace(plain_table([["attack", "bytes", *names], *rows]), folded="Each attack")


def _section(result: Result, _: Evidence) -> list[Passage]:
    return attack_passages(result)


SECTIONS = [Section("attacks", "Attacks", 19, _section)]
