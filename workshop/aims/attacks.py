"""Where our hardened profile is not the best of those that are attacked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from heapwise.model import Fate, name_with_peer, short_name
from heapwise.study.attacks.attack_tables import AttackTable
from heapwise.study.attacks.words import fate_words
from heapwise.wording.names import spaced

HARDENED = name_with_peer("malloc", "heapwise-hardened")


def shortcomings(tables: Iterable[AttackTable]) -> Iterator[str]:
    """A line for each attack that damages the heap under our hardened profile, or that another
    allocator stops more often. Attacks are compared by their worst ending: damage, then a process
    that goes on or hangs, then a stop of every attempt."""
    for attack in (attack for found in tables for attack in found.attacks):
        ours = attack.fates.get(HARDENED)
        if ours is None:
            continue
        better = [
            short_name(name)
            for name, fate in attack.fates.items()
            if _badness(fate) < _badness(ours)
        ]
        if better or ours.corrupted > 0:
            yield (
                f"{short_name(HARDENED)}, {spaced(attack.name)} of {attack.size} bytes: "
                f"{fate_words(ours)}; better under {', '.join(better) or 'none'}"
            )


def _badness(fate: Fate) -> int:
    if fate.corrupted > 0:
        return 2
    return 1 if fate.stopped < 1 - 1e-9 else 0
