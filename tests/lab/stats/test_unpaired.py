"""Ratios of what was not measured side by side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from heapwise.stats.ratios.unpaired import LEAST, unpaired_ratio


def test_the_estimate_is_the_median_of_all_differences() -> None:
    found = unpaired_ratio([2.0, 4.0, 8.0, 16.0], [1.0, 2.0, 4.0, 8.0])
    assert found.ratio == pytest.approx(2.0)


def test_few_rounds_have_no_interval() -> None:
    found = unpaired_ratio([1.0] * 9, [1.0] * (LEAST - 1))
    assert (found.low, found.high, found.n) == (None, None, 3)
    assert "interval needs" in found.note


@pytest.mark.parametrize("sizes", [(4, 4), (6, 6), (6, 14), (31, 31)])
def test_the_interval_excludes_1_as_the_test_of_mann_and_whitney_rejects(
    sizes: tuple[int, int],
) -> None:
    random, differ = np.random.default_rng(5), 0
    for _ in range(300):
        above, below = (
            np.exp(random.normal(shift, 0.05, n))
            for n, shift in zip(sizes, (0.05, 0.0), strict=True)
        )
        found = unpaired_ratio(above.tolist(), below.tolist())
        assert found.low is not None
        assert found.high is not None
        exact = mannwhitneyu(above, below, method="exact").pvalue
        differ += (not found.low <= 1 <= found.high) != (exact < 0.05)
    assert differ <= 9  # the ranks of the normal approximation and of the exact test may be one off


@pytest.mark.parametrize("size", [4, 6, 14])
def test_it_covers_the_truth(size: int) -> None:
    random = np.random.default_rng(6)
    held = 0
    for _ in range(1000):
        above, below = (np.exp(random.normal(shift, 0.02, size)) for shift in (0.1, 0.0))
        found = unpaired_ratio(above.tolist(), below.tolist())
        held += (
            found.low is not None
            and found.high is not None
            and (found.low <= np.exp(0.1) <= found.high)
        )
    assert held >= 930
