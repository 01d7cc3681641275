"""Attacks in which our hardened profile is not the best."""

from __future__ import annotations

from heapwise.model import Fate, name_with_peer
from heapwise.study.attacks.attack_tables import Attack, AttackTable
from workshop.aims.attacks import HARDENED, shortcomings

OTHER = name_with_peer("malloc", "other")
STOPPED = Fate(0, 1, 0, 0, 0, 0)
SOMETIMES = Fate(0, 0.5, 0, 0, 0, 0)
DAMAGED = Fate(0.1, 0.9, 0, 0, 0, 0)


def found(ours: Fate, other: Fate) -> list[str]:
    attack = Attack("freed_twice", 8, {HARDENED: ours, OTHER: other})
    return list(shortcomings([AttackTable("attacks/frees", [HARDENED, OTHER], [attack])]))


def test_an_attack_that_every_attempt_of_is_stopped_is_not_listed() -> None:
    assert found(STOPPED, STOPPED) == []
    assert found(STOPPED, DAMAGED) == []


def test_an_attack_that_another_allocator_stops_more_often_is_listed_with_it() -> None:
    assert found(SOMETIMES, STOPPED) == [
        "heapwise-hardened, freed twice of 8 bytes: stopped 50%, harmless; better under other"
    ]
    assert found(SOMETIMES, SOMETIMES) == []


def test_damage_is_always_listed() -> None:
    assert found(DAMAGED, DAMAGED) == [
        "heapwise-hardened, freed twice of 8 bytes: CORRUPTS 10%, stopped; better under none"
    ]
    assert found(DAMAGED, SOMETIMES)[0].endswith("better under other")
