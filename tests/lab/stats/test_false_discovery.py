from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from heapwise.stats.claims.false_discovery import benjamini_hochberg


def test_as_scipy_has_it() -> None:
    raw = np.random.default_rng(1).uniform(0, 0.3, 40)
    assert benjamini_hochberg(raw.tolist()) == pytest.approx(false_discovery_control(raw))


def test_none_and_one() -> None:
    assert benjamini_hochberg([]) == []
    assert benjamini_hochberg([0.03]) == [0.03]


def test_of_a_hundred_certain_ones_none_is_lost() -> None:
    assert max(benjamini_hochberg([0.031] * 100)) == pytest.approx(0.031)


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([1.2])
