"""How long the load and the idle phase of each server last, and the loads of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LOAD_S = 10.0
IDLE_S = 5.0
SHORTEST_LOAD_S = 1.0
SHORTEST_IDLE_S = 0.5
BESIDE_S = 3.0
"""A pair tells its difference within seconds: what disturbs the machine disturbs both."""

START_S = 1.0
"""For the start and the end of a server."""

FEWEST_ROUNDS = 3
"""That an interval needs."""


@dataclass(frozen=True)
class Lengths:
    """In seconds. Load generators take whole seconds."""

    load_s: float
    idle_s: float

    @property
    def beside_s(self) -> float:
        """How long the loads of a pair last."""
        return min(BESIDE_S, self.load_s)


def choose_lengths(
    load_s: float | None,
    idle_s: float | None,
    time_s: float,
    window_s: float,
    servers: int,
    pairs: int = 0,
) -> Lengths:
    """load_s, idle_s: what the user typed; None: nothing.

    A time limit shortens what was not typed, so that all ``servers`` and ``pairs`` of servers can
    be measured within it. Windows need their whole load.
    """
    usual = Lengths(LOAD_S if load_s is None else load_s, IDLE_S if idle_s is None else idle_s)
    if not time_s or window_s:
        return usual
    left = time_s / (servers + pairs) - START_S
    load = load_s or min(LOAD_S, max(SHORTEST_LOAD_S, left * LOAD_S / (LOAD_S + IDLE_S) // 1))
    if idle_s is not None:
        return Lengths(load, idle_s)
    return Lengths(load, min(IDLE_S, max(SHORTEST_IDLE_S, round(left - load, 1))))


def servers_of(subjects: int, loads: Sequence[str], *, has_rates: bool) -> int:
    """Those of the fewest rounds, and before them one for each capacity and one that counts live
    bytes. subjects: the hidden control included."""
    return FEWEST_ROUNDS * subjects * len(loads) + (subjects - 1 if has_rates else 0) + 1


def pairs_of(subjects: int) -> int:
    """Those of the fewest rounds: each subject but the baseline has one in each."""
    return FEWEST_ROUNDS * (subjects - 1)
