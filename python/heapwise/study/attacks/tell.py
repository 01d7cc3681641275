"""What is told about attacks: what each allocator made of them, in all and one by one."""

from __future__ import annotations

from heapwise.document import Heading, Notice, Passage, TableCell, TextTable, table_cell
from heapwise.evidence import Evidence
from heapwise.model import Fate, Result, short_name
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
    rows = []
    for place, name in enumerate(table.subjects, start=1):
        score = table.score(name)
        counts = (score.stopped, score.harmless, score.corrupting, score.hung, score.alarms)
        subject = short_name(name)
        rows.append(
            [
                table_cell(subject, f"{place}  {subject}"),
                table_cell(protection_of(name, result)),
                *(table_cell(str(count)) for count in counts),
            ]
        )
    return TextTable(
        [table_cell(word) for word in ("allocator", "built to resist", *SCORES)],
        rows,
        f"{table.experiment}: number of attacks by their worst ending. How far an allocator is "
        "built to resist is what its makers say.",
    )


def _each(table: AttackTable) -> TextTable:
    """Where there is little room, the columns have the numbers of the table above."""
    names = [
        table_cell(short_name(name), str(place))
        for place, name in enumerate(table.subjects, start=1)
    ]
    rows = [
        [
            table_cell(spaced(attack.name)),
            table_cell(str(attack.size)),
            *(_ending(attack.fates.get(name)) for name in table.subjects),
        ]
        for attack in table.attacks
    ]
    return TextTable(
        [table_cell("attack"), table_cell("bytes"), *names], rows, folded="Each attack"
    )


def _ending(fate: Fate | None) -> TableCell:
    return table_cell("-") if fate is None else table_cell(fate_words(fate), fate_word(fate))


def _section(result: Result, _: Evidence) -> list[Passage]:
    return attack_passages(result)


SECTIONS = [Section("attacks", "Attacks", 19, _section)]
