"""The page of attacks says where our hardened profile is not the best."""

from __future__ import annotations

import sys
from pathlib import Path

from heapwise.analysis.attacks import Attack, AttackTable
from heapwise.model import Fate, name_with_peer

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from attacks.page import OURS, shortcomings, typed

OTHER = name_with_peer("malloc", "other")
STOPPED = Fate(0, 1, 0, 0, 0, 0)
SOMETIMES = Fate(0, 0.5, 0, 0, 0, 0)
DAMAGED = Fate(0.1, 0.9, 0, 0, 0, 0)


def found(ours: Fate, other: Fate) -> list[list[str]]:
    table = AttackTable(
        "attacks/frees", [OURS, OTHER], [Attack("freed_twice", 8, {OURS: ours, OTHER: other})]
    )
    return list(shortcomings([table]))


def test_an_attack_that_every_attempt_of_is_stopped_is_not_listed() -> None:
    assert found(STOPPED, STOPPED) == []
    assert found(STOPPED, DAMAGED) == []


def test_an_attack_that_another_allocator_stops_more_often_is_listed_with_it() -> None:
    assert found(SOMETIMES, STOPPED) == [["freed twice", "8", "stopped 50%, harmless", "other"]]
    assert found(SOMETIMES, SOMETIMES) == []


def test_the_command_is_as_it_was_typed_but_for_the_store() -> None:
    line = ["/usr/bin/heapwise", "run", "attacks", "--store", "/home/me/runs", "--subjects", "a,b"]
    assert typed(line) == "heapwise run attacks --subjects a,b"


def test_damage_is_always_listed() -> None:
    assert found(DAMAGED, DAMAGED) == [["freed twice", "8", "CORRUPTS 10%, stopped", "none"]]
    assert found(DAMAGED, SOMETIMES)[0][-1] == "other"
