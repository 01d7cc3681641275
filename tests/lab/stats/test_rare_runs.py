"""Runs far beyond the typical one: their share in each of two programs, and Fisher's test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from heapwise.stats.claims.rare_runs import rare_runs, share_interval

LEAST = 0.03

Random = np.random.Generator

NOISE: dict[str, Callable[[Random, int], np.ndarray]] = {
    "normal": lambda random, n: np.exp(0.01 * random.normal(size=n)),
    "heavy tails": lambda random, n: np.exp(0.01 * random.standard_t(2, size=n)),
    "Pareto": lambda random, n: 1 + 0.01 * random.pareto(1.5, size=n),
    "spikes": lambda random, n: np.where(random.random(n) < 0.05, 1.5, 1) * random.uniform(1, 1.01),
    "two modes": lambda random, n: (
        np.where(random.random(n) < 0.3, 1.2, 1) * np.exp(0.005 * random.normal(size=n))
    ),
    "few values": lambda random, n: random.integers(3, 6, size=n).astype(float),
}


def test_five_of_28_runs_that_need_ten_times_as_much_are_named() -> None:
    """A build that touched 200 MiB in 5 of 28 runs, and 20 MiB in all others."""
    new, base = [20.0] * 23 + [200.0] * 5, [21.0] * 56
    found = rare_runs(new, base, LEAST)
    assert found is not None
    assert (found.new_count, found.new_runs, found.base_count, found.base_runs) == (5, 28, 0, 56)
    assert found.size == pytest.approx(10.0)
    assert found.excess == pytest.approx(5 / 28 * 9)
    assert found.p_more == pytest.approx(0.00318, abs=1e-4)  # C(28, 5) / C(84, 5)
    assert found.p_less == 1.0
    assert (found.low, found.high) == pytest.approx((0.0606, 0.3689), abs=1e-4)


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("rounds", [6, 14, 46])
def test_one_distribution_is_called_two_no_more_often_than_the_level(
    kind: str, rounds: int
) -> None:
    random, campaigns = np.random.default_rng(7), 300
    found = [
        rare_runs(
            NOISE[kind](random, rounds).tolist(), NOISE[kind](random, 2 * rounds).tolist(), LEAST
        )
        for _ in range(campaigns)
    ]
    for level in (0.05, 0.01):
        wrong = sum(one is not None and one.p_more <= level for one in found)
        assert wrong <= campaigns * level + 3 * (campaigns * level) ** 0.5


def test_a_tenth_of_runs_that_take_twice_as_long_are_found() -> None:
    random = np.random.default_rng(7)
    found = [
        rare_runs(np.where(random.random(46) < 0.1, 2.0, 1.0).tolist(), [1.0] * 92, LEAST)
        for _ in range(200)
    ]
    assert sum(one is not None and one.p_more <= 0.05 for one in found) > 150


def test_a_shift_of_all_runs_is_not_rare() -> None:
    found = rare_runs([1.5, 1.51, 1.52] * 10, [1.0, 1.01, 1.02] * 20, LEAST)
    assert found is not None
    assert (found.new_count, found.base_count) == (0, 0)


def test_rare_runs_of_the_base_alone_are_less_of_them() -> None:
    found = rare_runs([1.0] * 40, [1.0] * 30 + [3.0] * 10, LEAST)
    assert found is not None
    assert found.p_less < 0.001
    assert found.p_more == 1.0
    assert found.excess < 0


def test_no_answer_without_runs_or_with_zero() -> None:
    assert rare_runs([1.0, 1.0], [1.0] * 9, LEAST) is None
    assert rare_runs([0.0] * 9, [1.0] * 9, LEAST) is None


def test_the_interval_of_a_share_is_that_of_clopper_and_pearson() -> None:
    assert share_interval(0, 30) == pytest.approx((0.0, 0.0950), abs=1e-4)  # 1 - 0.05 ** (1 / 30)
    assert share_interval(3, 3) == pytest.approx((0.3684, 1.0), abs=1e-4)
    assert share_interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
