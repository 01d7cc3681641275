"""One ratio over many rows: a known answer, an interval that covers, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.combined import Pair, combined_ratio


def rows(random: np.random.Generator, ratios: list[float], n: int, noise: float) -> dict[str, Pair]:
    found: dict[str, Pair] = {}
    for place, ratio in enumerate(ratios):
        below = random.lognormal(3, 0.3, n)
        found[str(place)] = list(ratio * below * random.lognormal(0, noise, n)), list(below)
    return found


def test_without_noise_it_is_the_geometric_mean() -> None:
    found = combined_ratio({"a": ([2, 4, 6], [1, 2, 3]), "b": ([1, 1, 1], [2, 2, 2])})
    assert (found.ratio, found.rows) == (pytest.approx(1.0), 2)
    assert (found.low, found.high) == (pytest.approx(1.0), pytest.approx(1.0))


def test_the_interval_covers_the_truth_and_is_narrower_than_that_of_a_row() -> None:
    random = np.random.default_rng(11)
    truth = [1.2, 0.9, 1.6, 1.1, 2.0, 0.7, 1.3, 1.05]
    centre = float(np.exp(np.mean(np.log(truth))))
    hits, width = 0, 0.0
    for _ in range(400):
        found = combined_ratio(rows(random, truth, 6, 0.05))
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= centre <= found.high
        width += (found.high - found.low) / 400
    assert 0.92 <= hits / 400 <= 0.985
    assert width < 0.04 * centre


def test_rows_of_unequal_noise_and_length() -> None:
    random = np.random.default_rng(12)
    hits = 0
    for _ in range(400):
        (steady,) = rows(random, [1.5], 30, 0.01).values()
        found = combined_ratio(rows(random, [1.5], 6, 0.2) | {"steady": steady})
        hits += (found.low or 9) <= 1.5 <= (found.high or 0)
    assert 0.92 <= hits / 400 <= 0.99


def test_what_it_refuses() -> None:
    alone = combined_ratio({"a": ([2, 4], [1, 2]), "b": ([3], [1])})
    assert alone.low is None
    assert alone.high is None
    assert "one pair" in alone.note
    for bad in ({}, {"a": ([], [])}, {"a": ([1, 2], [1])}, {"a": ([1, -2], [1, 1])}):
        with pytest.raises(ValueError):  # noqa: PT011  whichever of the parts says so
            combined_ratio(bad)
