from __future__ import annotations

import numpy as np
import pytest

from heapwise.analysis.verdicts.verdict import doubt, judge
from heapwise.stats.ratios.noise import noise_floor
from heapwise.stats.ratios.paired import ratio_of_logs
from heapwise.stats.ratios.pooled_scale import pooled_scales
from heapwise.stats.series.dependence import dependence


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


def campaign(random: np.random.Generator, rounds: int, effect: float) -> tuple[float, str]:
    """The difference that it names, and what it says of a subject with this one; independent rounds
    with a standard deviation of 1 %."""
    base, control, *subjects = 0.01 * random.normal(size=(5, rounds))
    ratios = [subject - (base + control) / 2 for subject in subjects]
    tied = dependence([control - base, *ratios])
    floor = noise_floor(
        np.exp(base).tolist(), np.exp(control).tolist(), tied.factor, subjects=len(subjects)
    )
    assert floor is not None
    errors = [ratio_of_logs(control - base).error or 0.0] + [
        ratio_of_logs(logs).error or 0.0 for logs in ratios
    ]
    errors[0] *= 0.75**0.5
    scale = pooled_scales(errors, [rounds] * len(errors))[1]
    ratio = ratio_of_logs(ratios[0] + effect).on(scale).widened(tied.factor, tied.strict_factor)
    word = judge(ratio, "higher", floor.floor, floor.floor if floor.biased else 0.0)
    return floor.detectable, word


@pytest.mark.parametrize("rounds", [3, 5, 6, 8, 14, 31])
def test_a_detectable_difference_is_claimed_four_times_in_five(rounds: int) -> None:
    """Each campaign names its difference; another one with that difference judges it."""
    random = np.random.default_rng(rounds)
    campaigns, claimed = 600, 0
    for _ in range(campaigns):
        named, _ = campaign(random, rounds, 0.0)
        claimed += campaign(random, rounds, float(np.log1p(named)))[1] == "better"
    assert claimed / campaigns == pytest.approx(0.8, abs=0.05)


def test_a_certain_shift_is_seen_in_few_rounds() -> None:
    found = noise_floor(*pairs(6, 0.05, 2))
    assert found is not None
    assert found.p_value < 0.01


def test_two_pairs_have_no_floor() -> None:
    assert noise_floor([1.0, 1.1], [1.0, 1.0]) is None


def test_three_ratios_that_are_alike_by_chance_are_not_no_difference() -> None:
    """javac under load: three ratios within half a percent, of subjects that scatter by 5 %. 4.6 %
    more work was planted."""
    lucky = np.array([0.0229, 0.0250, 0.0285])
    others = [np.array([-0.11, 0.0, 0.07]), np.array([0.05, -0.06, 0.02])]
    found = [ratio_of_logs(logs) for logs in (lucky, *others)]
    scales = pooled_scales([ratio.error or 0.0 for ratio in found], [3] * 3)
    assert judge(found[0], "lower", 0.036) == "no difference"
    ratio = found[0].on(scales[0])
    assert judge(ratio, "lower", 0.036) == "cannot tell"
    assert (ratio.low, ratio.high) == (found[0].low, found[0].high)
    assert doubt(ratio, 0.036).startswith("by the scatter of all subjects ")


def test_no_difference_is_as_often_said_where_all_scatter_alike() -> None:
    random = np.random.default_rng(3)
    alone = together = 0
    for _ in range(200):
        logs = 0.005 * random.normal(size=(5, 8))
        found = [ratio_of_logs(each) for each in logs]
        scales = pooled_scales([ratio.error or 0.0 for ratio in found], [8] * 5)
        alone += sum(judge(ratio, "lower", 0.01) == "no difference" for ratio in found)
        together += sum(
            judge(ratio.on(scale), "lower", 0.01) == "no difference"
            for ratio, scale in zip(found, scales, strict=True)
        )
    assert 0.98 * alone < together <= alone
