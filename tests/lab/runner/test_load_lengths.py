"""How long the loads of servers are, if the time is limited."""

from __future__ import annotations

import pytest

from heapwise.study.server.lengths import (
    BESIDE_S,
    START_S,
    Lengths,
    choose_lengths,
    pairs_of,
    servers_of,
)


def test_without_a_limit_the_lengths_are_the_usual_ones() -> None:
    assert choose_lengths(None, None, 0.0, 0.0, 21) == Lengths(10.0, 5.0)
    assert choose_lengths(None, None, 3600.0, 0.0, 21) == Lengths(10.0, 5.0)


@pytest.mark.parametrize("time_s", [60.0, 120.0, 300.0])
@pytest.mark.parametrize("servers", [10, 21])
def test_three_rounds_fit_into_the_time(time_s: float, servers: int) -> None:
    chosen = choose_lengths(None, None, time_s, 0.0, servers)
    assert servers * (chosen.load_s + chosen.idle_s + START_S) <= time_s + servers * 0.05
    assert chosen.load_s >= 1.0
    assert chosen.load_s % 1 == 0, "generators take whole seconds"


def test_typed_lengths_stay() -> None:
    assert choose_lengths(7.0, None, 60.0, 0.0, 21).load_s == 7.0
    assert choose_lengths(None, 3.0, 60.0, 0.0, 21).idle_s == 3.0
    assert choose_lengths(8.0, None, 60.0, 2.0, 21) == Lengths(8.0, 5.0), "windows need their load"


def test_servers_before_the_first_round_count() -> None:
    assert servers_of(3, ["capacity", "70%"], has_rates=True) == 3 * 3 * 2 + 2 + 1
    assert servers_of(3, ["capacity"], has_rates=False) == 10


def test_pairs_of_servers_have_a_part_of_the_time() -> None:
    alone = choose_lengths(None, None, 120.0, 0.0, 10)
    with_pairs = choose_lengths(None, None, 120.0, 0.0, 10, pairs_of(4))
    assert with_pairs.load_s < alone.load_s
    assert 0 < with_pairs.beside_s <= min(BESIDE_S, with_pairs.load_s)
    assert choose_lengths(None, None, 0.0, 0.0, 10, pairs_of(4)).beside_s == BESIDE_S
