"""What the best of several gains by being chosen, against what is known of it."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.claims.selection import selection_bias
from heapwise.stats.ratios.paired import ratio_of_logs

CAMPAIGNS = 300


def leads(truth: list[float], rounds: int) -> tuple[float, float, float]:
    """Of subjects with a standard deviation of 0.5 % a round: how far, on average, the best one's
    lead over the baseline is from the true one, before and after; and the coverage after."""
    random, truths = np.random.default_rng(rounds), np.array(truth)
    before, after, covered = [], [], 0
    for _ in range(CAMPAIGNS):
        base, control = 0.005 * random.normal(size=(2, rounds))
        logs = truths[:, None] + 0.005 * random.normal(size=(len(truth), rounds))
        logs -= (base + control) / 2
        found = [ratio_of_logs(row) for row in logs]
        best = max(range(len(truth)), key=lambda i: found[i].ratio)
        stated = found[best].less(selection_bias(logs))
        before.append(np.log(found[best].ratio) - truths[best])
        after.append(np.log(stated.ratio) - truths[best])
        assert stated.low is not None
        assert stated.high is not None
        covered += stated.low <= np.exp(truths[best]) <= stated.high
    return float(np.mean(before)), float(np.mean(after)), covered / CAMPAIGNS


TWO_PERCENT = float(np.log(1.02))


@pytest.mark.parametrize("rounds", [6, 14])
@pytest.mark.parametrize(
    "truth",
    [[TWO_PERCENT] * 6, [TWO_PERCENT, 0, 0, 0, 0, 0], [TWO_PERCENT, 0.015, 0.01, 0.005, 0, 0]],
)
def test_the_lead_of_the_best_is_neither_enlarged_nor_uncertain(
    truth: list[float], rounds: int
) -> None:
    _, bias, coverage = leads(truth, rounds)
    assert abs(bias) < 0.001
    assert 0.93 <= coverage <= 0.995


def test_without_it_the_lead_of_one_of_six_equal_ones_would_be_too_large() -> None:
    before, _, _ = leads([TWO_PERCENT] * 6, 6)
    assert before > 0.002


@pytest.mark.parametrize("shape", [(1, 9), (5, 2)])
def test_one_subject_and_two_rounds_have_no_choice_to_allow_for(shape: tuple[int, int]) -> None:
    assert selection_bias(np.random.default_rng(1).normal(size=shape)) == 0


def test_a_disturbance_of_a_whole_round_does_not_matter() -> None:
    random = np.random.default_rng(2)
    logs = random.normal(size=(4, 9))
    assert selection_bias(logs + random.normal(0, 9, 9)) == pytest.approx(selection_bias(logs))
