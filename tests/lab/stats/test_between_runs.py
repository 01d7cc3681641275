"""How much figures differ from run to run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heapwise.stats.basics.special import stdtrit
from heapwise.stats.ratios.between_runs import BetweenRuns, between_runs
from heapwise.stats.ratios.paired import STRICT_CONFIDENCE, PairedRatio, by_student
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


RUNS = BetweenRuns(0.02, 5)
USUAL, STRICT = (
    float(np.sqrt(2) * 0.02 * stdtrit(5, (1 + each) / 2)) for each in (0.95, STRICT_CONFIDENCE)
)
"""How far the ends of each interval are from the ratio at the least, on the log scale."""


@pytest.mark.parametrize(
    ("second", "first"),
    [
        ([1010.0] * 14, [1000.0] * 14),
        ([1010.0] * 13 + [1200.0], [1000.0] * 14),
        ([1010.0] * 8 + [1030.0] * 6, [1000.0] * 14),
    ],
    ids=["no width", "one other", "no width below"],
)
def test_numbers_that_repeat_within_a_run_have_the_interval_of_runs(
    second: list[float], first: list[float]
) -> None:
    found = RUNS.widened(unpaired_ratio(second, first))
    assert found.low is not None
    assert found.high is not None
    assert found.strict is not None
    assert found.low <= found.ratio * np.exp(-USUAL) * (1 + 1e-9)
    assert found.high >= found.ratio * np.exp(USUAL) * (1 - 1e-9)
    assert found.strict[0] <= found.ratio * np.exp(-STRICT) * (1 + 1e-9)
    assert found.strict[1] >= found.ratio * np.exp(STRICT) * (1 - 1e-9)
    assert found.p_value > 0.3
    ends = found.ends(0.999)
    assert ends is not None
    assert ends[0] < found.strict[0]


def test_the_strict_interval_keeps_its_width_beside_a_small_pooled_scale() -> None:
    found = by_student(np.log([1.01, 1.012, 1.008, 1.011, 1.009, 1.01]), 0.95)
    strict = RUNS.widened(replace(found, scale=0.1)).strict
    assert strict == pytest.approx((found.ratio * np.exp(-STRICT), found.ratio * np.exp(STRICT)))


def test_later_widening_also_widens_the_interval_of_runs() -> None:
    found = RUNS.widened(unpaired_ratio([1010.0] * 14, [1000.0] * 14))
    wider = found.widened(1.5).strict
    assert wider == pytest.approx((1.01 * np.exp(-1.5 * STRICT), 1.01 * np.exp(1.5 * STRICT)))
    blurred = found.blurred(0.01).strict
    assert blurred is not None
    assert blurred[0] <= 1.01 * np.exp(-STRICT - 0.01) * (1 + 1e-9)
