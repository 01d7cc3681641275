"""What attacks came to, from rows of a result."""

from __future__ import annotations

from typing import Any

import pytest

from heapwise.document.terminal import terminal
from heapwise.model import Cell, Fate, Result, Row, Settings
from heapwise.study.attacks.attack_tables import Attack, AttackTable, attack_tables
from heapwise.study.attacks.tell import attack_passages
from heapwise.study.attacks.words import fate_words

STOPPED = Fate(0, 1, 0, 0, 0, 0)
CORRUPTED = Fate(1, 0, 0, 0, 0, 0)
HARMLESS = Fate(0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("fate", "words"),
    [
        (STOPPED, "stopped"),
        (CORRUPTED, "CORRUPTS"),
        (HARMLESS, "harmless"),
        (Fate(0, 0, 1, 37, 0, 0), "stopped after 37"),
        (Fate(0, 0, 0, 0, 1, 0), "hangs"),
        (Fate(0.2, 0.8, 0, 0, 0, 0), "CORRUPTS 20%, stopped"),
        (Fate(0, 0.25, 0, 0, 0, 0), "stopped 25%, harmless"),
        (Fate(0, 1, 0, 0, 0, 0.05), "stopped, ALARM"),
    ],
)
def test_words_of_a_fate(fate: Fate, words: str) -> None:
    assert fate_words(fate) == words


def test_an_attack_counts_by_its_worst_ending() -> None:
    fates = [
        STOPPED,
        CORRUPTED,
        HARMLESS,
        Fate(0.05, 0.95, 0, 0, 0, 0),
        Fate(0, 0.5, 0, 0, 0.5, 0),
        Fate(0, 0.1, 0, 0, 0, 0.1),
    ]
    table = AttackTable(
        "attacks/frees",
        ["a"],
        [Attack(str(number), 8, {"a": fate}) for number, fate in enumerate(fates)],
    )
    score = table.score("a")
    assert (score.stopped, score.harmless, score.corrupting, score.hung) == (2, 1, 2, 1)
    assert score.alarms == 1


def row(subject: str, quantity: str, value: float, attack: str = "twice", n: int = 3) -> Row:
    settings = Settings({"attack": attack, "size": 8, "attempts": 2})
    found: Any = Row(
        subject,
        Cell("attacks/frees", settings, quantity),
        "per attempt",
        "lower",
        n,
        value,
        value,
        value,
        value,
        0.0,
        value,
        value,
        None,
        None,
        None,
    )
    return found


def result(rows: list[Row]) -> Result:
    class Some:
        pass

    run: Any = Some()
    run.experiments = [
        type("One", (), {"id": "attacks/frees", "family": "attacks", "question": "?"})()
    ]
    run.plan = type("Some", (), {"subjects": []})()
    found: Any = Some()
    found.run, found.rows = run, rows
    return found


def terminal_text(of_run: Result) -> str:
    return terminal(attack_passages(of_run))


QUANTITIES = (
    "corrupted",
    "stopped_at_once",
    "stopped_later",
    "calls_until_stop",
    "hung",
    "false_alarms",
)


def test_rows_become_a_table() -> None:
    rows = [row("malloc@a", name, float(name == "corrupted")) for name in QUANTITIES]
    rows += [row("malloc@b", name, float(name == "stopped_at_once")) for name in QUANTITIES]
    [table] = attack_tables(result(rows))
    [attack] = table.attacks
    assert (attack.name, attack.size) == ("twice", 8)
    assert attack.fates == {"malloc@a": CORRUPTED, "malloc@b": STOPPED}
    text = terminal_text(result(rows))
    assert "twice   8      CORRUPTS  stopped" in text


def test_a_subject_without_all_figures_has_no_fate() -> None:
    rows = [row("malloc@a", name, 0.0) for name in QUANTITIES]
    rows += [row("malloc@b", name, 0.0) for name in QUANTITIES[1:]]
    [table] = attack_tables(result(rows))
    assert table.attacks[0].fates.keys() == {"malloc@a"}


def test_a_run_without_attacks_has_no_table() -> None:
    found = result([])
    assert attack_tables(found) == []
    assert terminal_text(found) == ""
