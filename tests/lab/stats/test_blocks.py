"""How sure a mean over a few days is."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.ratios.blocks import block_error
from heapwise.stats.ratios.paired import ratio_of_logs


def false_verdicts(subjects: int, days: float, *, cautious: bool) -> float:
    """The share of equal subjects, 15 rounds on each of two days, whose strict interval excludes
    1."""
    random, campaigns, hits = np.random.default_rng(subjects), 150, 0
    for _ in range(campaigns):
        logs = 0.01 * random.normal(size=(subjects, 2, 15))
        logs += days * random.normal(size=(subjects, 2, 1))
        error = block_error(logs.tolist(), typical=0.005)
        assert error is not None
        for each in logs:
            ratio = ratio_of_logs(each.ravel())
            if cautious:
                ratio = ratio.at_least(error.error, error.degrees)
            assert ratio.strict is not None
            hits += not ratio.strict[0] <= 1 <= ratio.strict[1]
    return hits / (campaigns * subjects)


@pytest.mark.parametrize("subjects", [1, 5])
def test_days_that_differ_make_few_false_verdicts(subjects: int) -> None:
    assert false_verdicts(subjects, 0.01, cautious=False) >= 0.2
    assert false_verdicts(subjects, 0.01, cautious=True) <= 0.03


def called_different(subjects: int, effect: float, baseline: float) -> float:
    """The share of subjects, 7 rounds on each of two days, that are called different. baseline: its
    deviation from day to day, which all of them share."""
    random, campaigns, hits = np.random.default_rng(subjects), 100, 0
    for _ in range(campaigns):
        logs = effect + 0.005 * random.normal(size=(subjects, 2, 7))
        logs -= baseline * random.normal(size=(2, 1))
        error = block_error(logs.tolist(), typical=0.005)
        assert error is not None
        for each in logs:
            strict = ratio_of_logs(each.ravel()).at_least(error.error, error.degrees).strict
            assert strict is not None
            hits += not strict[0] <= 1 <= strict[1]
    return hits / (campaigns * subjects)


@pytest.mark.parametrize("subjects", [5, 12])
def test_a_baseline_that_differs_from_day_to_day_makes_few_false_verdicts(subjects: int) -> None:
    """Before, 12 subjects had 14 degrees of freedom, and a tenth of them was called different."""
    assert called_different(subjects, 0.0, 0.01) <= 0.02
    assert called_different(subjects, 0.05, 0.0) >= 0.9


def test_one_block_or_too_few_rounds_tell_nothing() -> None:
    assert block_error([[[0.1, 0.2, 0.3]]]) is None
    assert block_error([[[0.1, 0.2, 0.3], [0.1, 0.2]]]) is None


def test_an_interval_that_is_wide_enough_stays() -> None:
    ratio = ratio_of_logs(np.array([0.1, 0.11, 0.12, 0.1, 0.09, 0.13]))
    same = ratio.at_least(1e-6, 9)
    assert (same.low, same.high, same.strict) == (ratio.low, ratio.high, ratio.strict)
    assert same.p_value == ratio.p_value
    wider = ratio.at_least(0.1, 9)
    assert wider.low is not None
    assert ratio.low is not None
    assert wider.low < ratio.low
