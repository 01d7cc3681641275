from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.noise import noise_floor


def pairs(n: int, shift: float, seed: int) -> tuple[list[float], list[float]]:
    random = np.random.default_rng(seed)
    first = np.exp(shift + random.normal(0, 0.01, n))
    return list(first), list(np.exp(random.normal(0, 0.01, n)))


def test_floor_shrinks_with_more_pairs() -> None:
    few, many = noise_floor(*pairs(8, 0, 1)), noise_floor(*pairs(200, 0, 1))
    assert few is not None
    assert many is not None
    assert many.floor < few.floor < 0.05


def test_a_shift_between_labels_is_seen() -> None:
    found = noise_floor(*pairs(20, 0.05, 2))
    assert found is not None
    assert found.biased
    assert found.floor > 0.05


def test_equal_labels_are_rarely_called_biased() -> None:
    alarms = sum(f.biased for s in range(400) if (f := noise_floor(*pairs(12, 0, s))))
    assert alarms <= 0.05 * 400 + 3 * np.sqrt(400 * 0.05 * 0.95)


def test_detectable_difference_is_found_four_times_in_five() -> None:
    random = np.random.default_rng(9)
    one = noise_floor(*pairs(30, 0, 3))
    assert one is not None
    assert one.detectable is not None
    # With spread 0.01 on both sides of 30 pairs, theory says (2.045 + 0.854) * 0.01414 / sqrt(30).
    assert one.detectable == pytest.approx(0.0075, rel=0.4)
    found = 0
    for _ in range(300):
        logs = 0.0075 + random.normal(0, 0.01 * np.sqrt(2), 30)
        ratio = noise_floor(list(np.exp(logs)), [1.0] * 30)
        found += ratio is not None and ratio.biased
    assert 0.68 <= found / 300 <= 0.9


def test_few_pairs_are_said_to_be_few() -> None:
    found = noise_floor([1.02, 1.0, 0.97], [1.0, 1.0, 1.0])
    assert found is not None
    assert "3 A/A pairs" in found.note
    assert found.floor == pytest.approx(1 / 0.97 - 1)
    assert noise_floor([1.0], [1.0]) is None
