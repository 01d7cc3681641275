"""The paired ratio against scipy, against counting by hand, and against its own promise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ttest_1samp, wilcoxon

from heapwise.stats.basics.signed_rank import interval_rank, lower_tail
from heapwise.stats.ratios.paired import PairedRatio, paired_ratio, ratio_of_logs, walsh_averages


def brute_force_tail(statistic: int, pairs: int) -> float:
    sums = [
        sum(r for r, s in zip(range(1, pairs + 1), signs, strict=True) if s)
        for signs in product([0, 1], repeat=pairs)
    ]
    return sum(t <= statistic for t in sums) / len(sums)


@pytest.mark.parametrize("pairs", [1, 2, 5, 6, 9])
def test_distribution_is_the_one_that_counting_gives(pairs: int) -> None:
    for statistic in range(pairs * (pairs + 1) // 2 + 1):
        assert lower_tail(statistic, pairs) == pytest.approx(brute_force_tail(statistic, pairs))


@pytest.mark.parametrize("pairs", [6, 10, 17, 40])
def test_p_value_agrees_with_scipy(pairs: int) -> None:
    random = np.random.default_rng(pairs)
    base = random.lognormal(0, 0.1, pairs)
    ours = base * random.lognormal(0.04, 0.1, pairs)
    theirs = wilcoxon(np.log(ours) - np.log(base), method="exact").pvalue
    assert paired_ratio(list(ours), list(base)).p_value == pytest.approx(float(theirs))


def test_published_table_of_ranks() -> None:
    # Critical values of the signed-rank test, two-sided 5 %, n = 6 ... 15: the interval starts one
    # rank above the critical value.
    table = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25}
    for pairs, critical in table.items():
        assert interval_rank(pairs, 0.95) == critical + 1


def test_estimate_by_hand() -> None:
    # ratios 1, 2, 4: the log2 ratios 0, 1, 2 have the Walsh averages 0 .5 1 1 1.5 2, median 1.
    assert paired_ratio([1, 2, 4], [1, 1, 1]).ratio == pytest.approx(2.0)
    assert list(walsh_averages(np.array([0.0, 1.0, 2.0]))) == [0, 0.5, 1, 1, 1.5, 2]


def test_two_pairs_have_no_interval() -> None:
    result = paired_ratio([2.0] * 2, [1.0] * 2)
    assert (result.low, result.high, result.p_value) == (None, None, 1.0)
    assert result.note == "2 of the 3 rounds that an interval needs"


@pytest.mark.parametrize("pairs", [3, 4, 5])
def test_three_to_five_pairs_have_the_t_interval_of_their_logarithms(pairs: int) -> None:
    logs = np.random.default_rng(pairs).normal(0.1, 0.2, pairs)
    result = paired_ratio(list(np.exp(logs)), [1.0] * pairs)
    theirs = ttest_1samp(logs, 0.0)
    ends = theirs.confidence_interval(0.95)
    assert result.low == pytest.approx(np.exp(ends.low))
    assert result.high == pytest.approx(np.exp(ends.high))
    assert result.p_value == pytest.approx(float(theirs.pvalue))


def of_each_side(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """A run is quick or slow: two sides, each with two modes five deviations apart."""
    first, second = (random.choice([0.0, 5.0], shape) + random.normal(size=shape) for _ in range(2))
    return first - second


NOISES: dict[str, Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "skewed": lambda random, shape: random.gamma(1.0, size=shape) - random.gamma(1.0, size=shape),
    "bimodal": of_each_side,
    "heavy": lambda random, shape: random.standard_t(2, size=shape),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("rounds", [3, 4, 5, 6, 14, 31])
def test_the_interval_covers_as_it_promises(noise: str, rounds: int) -> None:
    campaigns = 1000
    logs = 0.01 * NOISES[noise](np.random.default_rng(rounds), (campaigns, rounds))
    results = [ratio_of_logs(row) for row in logs]
    covered = sum((r.low or 9) <= 1 <= (r.high or 0) for r in results) / campaigns
    assert 0.93 <= covered <= 0.995


def test_six_pairs_give_the_extremes() -> None:
    subject = [1.1, 1.2, 1.3, 1.4, 1.5, 1.6]
    result = paired_ratio(subject, [1.0] * 6)
    assert result.low == pytest.approx(1.1)
    assert result.high == pytest.approx(1.6)
    assert result.p_value == pytest.approx(2 / 64)


def test_interval_and_test_agree() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        subject = random.lognormal(0.05, 0.1, 12)
        result = paired_ratio(list(subject), [1.0] * 12)
        assert result.low is not None
        assert result.high is not None
        assert (result.low > 1 or result.high < 1) == (result.p_value <= 0.05)


@pytest.mark.parametrize("rounds", [4, 6, 12, 30])
@pytest.mark.parametrize("factor", [1.1, 1.7])
def test_interval_and_test_agree_when_widened(rounds: int, factor: float) -> None:
    random = np.random.default_rng(rounds)
    for _ in range(200):
        result = ratio_of_logs(random.normal(0.05, 0.05, rounds))
        wide = result.widened(factor)
        assert wide.low is not None
        assert wide.high is not None
        assert result.p_value <= wide.p_value <= 1
        assert (wide.low > 1 or wide.high < 1) == (wide.p_value < 0.05)


def test_a_large_difference_stays_certain_when_widened() -> None:
    logs = np.random.default_rng(5).normal(0.7, 0.01, 9)
    assert ratio_of_logs(logs).widened(1.7).p_value == pytest.approx(2 / 2**9)


def test_inverting_the_question_inverts_the_answer() -> None:
    random = np.random.default_rng(4)
    a, b = list(random.lognormal(0, 0.2, 15)), list(random.lognormal(0.3, 0.2, 15))
    forward, backward = paired_ratio(a, b), paired_ratio(b, a)
    assert forward.low is not None
    assert backward.high is not None
    assert forward.ratio == pytest.approx(1 / backward.ratio)
    assert forward.low == pytest.approx(1 / backward.high)


def test_identical_numbers_do_not_differ() -> None:
    result = paired_ratio([3.0] * 8, [3.0] * 8)
    assert (result.ratio, result.low, result.high) == (1.0, 1.0, 1.0)
    assert result.p_value == 1.0


@pytest.mark.parametrize(
    ("subject", "baseline"),
    [([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([float("nan")], [1.0]), ([-1.0], [1.0])],
)
def test_nonsense_is_refused(subject: list[float], baseline: list[float]) -> None:
    with pytest.raises(ValueError, match=r"paired_ratio needs|above zero"):
        paired_ratio(subject, baseline)


def test_normal_approximation_joins_the_exact_one() -> None:
    from heapwise.stats.basics import signed_rank

    exact = interval_rank(200, 0.95)
    limit, signed_rank.EXACT_LIMIT = signed_rank.EXACT_LIMIT, 100
    try:
        approximate = interval_rank(200, 0.95)
    finally:
        signed_rank.EXACT_LIMIT = limit
    assert exact is not None
    assert approximate is not None
    assert abs(exact - approximate) <= 0.005 * exact


@pytest.mark.parametrize("pairs", [6, 12, 30])
def test_coverage_is_what_it_says(pairs: int) -> None:
    random = np.random.default_rng(20240 + pairs)
    truth = 1.1
    trials = 1500
    hits = 0
    for _ in range(trials):
        shared = random.lognormal(0, 0.3, pairs)
        subject = truth * shared * random.lognormal(0, 0.05, pairs)
        result = paired_ratio(list(subject), list(shared * random.lognormal(0, 0.05, pairs)))
        assert result.low is not None
        assert result.high is not None
        hits += result.low <= truth <= result.high
    # The exact level is at least 95 %; 1500 trials have a standard error of 0.56 points.
    assert hits / trials >= 0.95 - 3 * 0.0056
    assert hits / trials <= 0.995


def test_an_interval_that_is_widened_without_end_stays_a_number() -> None:
    wide = PairedRatio(ratio=2.0, low=1e-3, high=1e9, n=6, p_value=0.5)
    for ratio in (wide.widened(200), wide.widened(200).widened(200)):
        assert ratio.low is not None
        assert ratio.high is not None
        assert 0 < ratio.low < 1 < ratio.high < float("inf")
        assert ratio.strict is not None
        assert np.isfinite(ratio.strict).all()
