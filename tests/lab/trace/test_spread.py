"""Quantiles of numbers that nearly all are the same are these numbers."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.trace.spread import Spread


def test_a_size_that_nearly_all_blocks_have_is_exact() -> None:
    spread = Spread()
    for sizes in ([1000] * 900, [24] * 50, [1 << 20] * 50):
        numbers = np.array(sizes, np.uint64)
        spread.add(numbers, numbers)
    assert [spread.quantile(order) for order in (0.01, 0.5, 0.9, 1.0)] == [24, 1000, 1000, 1 << 20]
    assert spread.quantile(0.5, by_weight=True) == 1 << 20


@pytest.mark.parametrize("seed", range(5))
def test_a_quantile_is_at_most_a_64th_too_large(seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(1, 1 << 40, 5000, dtype=np.uint64)
    spread = Spread()
    spread.add(numbers[:2500], numbers[:2500])
    spread.add(numbers[2500:], numbers[2500:])
    for order in (0.1, 0.5, 0.9):
        exact = int(np.sort(numbers)[int(np.ceil(order * len(numbers))) - 1])
        found = spread.quantile(order)
        assert found is not None
        assert exact <= found <= exact * 65 / 64
