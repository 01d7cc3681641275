"""What a process does to the one after it."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from heapwise.stats.ratios.carry_over import CarryOver, carry_over


def campaign(
    random: np.random.Generator, rounds: int, subjects: int, effect: float, lost: float = 0.0
) -> CarryOver | None:
    """``s0`` makes the logarithm of the value after it larger by the effect. The baseline runs
    twice in each round."""
    labels = ["base", "base", *(f"s{number}" for number in range(subjects))]
    numbers, names, logs, before = [], [], [], ""
    for number in range(rounds):
        of_round = 0.02 * random.normal()
        for name in random.permutation(labels):
            value = of_round + 0.004 * random.normal() + effect * (before == "s0")
            numbers.append(number)
            names.append(str(name))
            logs.append(nan if random.random() < lost else value)
            before = name
    return carry_over(numbers, names, logs)


def certain(rounds: int, subjects: int, effect: float, lost: float = 0.0) -> float:
    random = np.random.default_rng(rounds + subjects)
    found = [campaign(random, rounds, subjects, effect, lost) for _ in range(12)]
    return sum(each is not None and each.p_value <= 0.01 for each in found) / len(found)


@pytest.mark.parametrize(("rounds", "subjects"), [(14, 1), (14, 5), (31, 1)])
def test_an_effect_on_the_successor_is_found(rounds: int, subjects: int) -> None:
    assert certain(rounds, subjects, 0.01, lost=0.1) >= 0.9


@pytest.mark.parametrize(("rounds", "subjects"), [(6, 1), (14, 1), (31, 5)])
def test_chance_is_rarely_taken_for_it(rounds: int, subjects: int) -> None:
    assert certain(rounds, subjects, 0.0, lost=0.1) <= 0.1


def test_its_size_is_told() -> None:
    random = np.random.default_rng(3)
    found = [campaign(random, 31, 1, 0.03) for _ in range(10)]
    apart = [each.after["s0"] - each.after["base"] for each in found if each]
    assert np.mean(apart) == pytest.approx(0.03, rel=0.1)


def test_too_few_rounds_equal_values_and_one_order_show_nothing() -> None:
    assert campaign(np.random.default_rng(1), 5, 1, 0.1) is None
    names = ["base", "s0"] * 10
    rounds = [number for number in range(10) for _ in range(2)]
    assert carry_over(rounds, names, [1.0] * 20) is None
