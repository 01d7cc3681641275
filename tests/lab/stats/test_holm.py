from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.claims.holm import holm, rounds_needed


def test_worked_example() -> None:
    # 0.01*4, 0.02*3, then 0.03*2 = 0.06, then max(0.06, 0.04).
    assert holm([0.02, 0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.06, 0.04, 0.06])


def test_one_comparison_is_left_alone() -> None:
    assert holm([0.03]) == [0.03]
    assert holm([]) == []


def test_never_below_raw_never_above_one() -> None:
    raw = list(np.random.default_rng(1).uniform(0, 1, 50))
    for before, after in zip(raw, holm(raw), strict=True):
        assert before <= after <= 1


def test_false_claims_stay_rare() -> None:
    random = np.random.default_rng(2)
    campaigns = sum(min(holm(list(random.uniform(0, 1, 10)))) < 0.05 for _ in range(2000))
    assert campaigns / 2000 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_rounds_needed() -> None:
    assert rounds_needed(1) == 6
    assert 2.0 ** (1 - rounds_needed(5)) <= 0.05 / 5 < 2.0 ** (2 - rounds_needed(5))


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])
