"""How much figures differ from run to run."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.ratios.between_runs import between_runs
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.stats.ratios.unpaired import unpaired_ratio


def test_fewer_than_four_runs_tell_nothing() -> None:
    assert between_runs([1.0, 1.1, 0.9]) is None
    assert between_runs([1.0, 1.1, 0.9, 0.0]) is None


def test_the_deviation_is_that_of_the_runs_also_after_a_lasting_change() -> None:
    random = np.random.default_rng(1)
    levels = np.exp(0.02 * random.normal(size=400))
    levels[200:] *= 1.1
    found = between_runs(levels.tolist())
    assert found is not None
    assert found.deviation == pytest.approx(0.02, rel=0.2)


def two_runs(random: np.random.Generator, rounds: int, between: float) -> PairedRatio:
    first, second = (
        np.exp(between * random.normal() + 0.005 * random.normal(size=rounds)) for _ in range(2)
    )
    return unpaired_ratio(first.tolist(), second.tolist())


@pytest.mark.parametrize("rounds", [6, 31])
def test_equal_things_of_two_runs_are_rarely_called_different(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    false, usual, campaigns = 0, 0, 400
    for _ in range(campaigns):
        found = two_runs(random, rounds, 0.02)
        levels = np.exp(0.02 * random.normal(size=8))
        spread = between_runs(levels.tolist())
        assert spread is not None
        strict, before = spread.widened(found).strict, found.strict
        assert strict is not None
        assert before is not None
        false += not strict[0] <= 1 <= strict[1]
        usual += not before[0] <= 1 <= before[1]
    assert false <= 0.02 * campaigns
    assert usual >= 0.5 * campaigns
