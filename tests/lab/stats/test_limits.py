"""Changes against limits: two stages, fixed looks, and counts."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.claims.limits import (
    ALL_LOOKS,
    CONFIRM,
    FALSE_FAILURES,
    FIRST_LOOK,
    MOST_LOOKS,
    Decision,
    decide_at,
    decide_ceiling,
    decide_counts,
    is_suspect,
    looks,
    suspect_level,
)

LIMIT = 0.03


def rounds(number: int, change: float, seed: int = 1, deviation: float = 0.002) -> list[float]:
    noise = np.random.default_rng(seed).normal(size=number)
    found: list[float] = (np.log1p(change) + deviation * noise).tolist()
    return found


def decide(
    change: list[float], control: list[float], limit: float, *, ended: bool = False
) -> Decision:
    """For a gate of one metric."""
    return decide_at(suspect_level(1), change, control, limit, ended=ended)


@pytest.mark.parametrize("metrics", range(1, 7))
def test_the_levels_of_both_stages_make_at_most_one_false_failure_in_a_thousand(
    metrics: int,
) -> None:
    assert metrics * suspect_level(metrics) * CONFIRM <= FALSE_FAILURES * (1 + 1e-9)
    assert suspect_level(metrics) <= 0.01


def test_a_stage_takes_fixed_looks_and_one_at_its_end() -> None:
    assert looks(5) == []
    assert looks(14) == [6, 9, 14]
    assert len(ALL_LOOKS) + 1 == MOST_LOOKS
    assert ALL_LOOKS[-1] == 778  # as many rounds as a program of 0.07 s has in three minutes


def test_a_large_change_is_confirmed_on_fresh_rounds() -> None:
    suspected = decide(rounds(FIRST_LOOK, 0.1), rounds(FIRST_LOOK, 0, 2), LIMIT)
    assert (suspected.verdict, suspected.fresh) == ("cannot tell", 0)
    found = decide(rounds(2 * FIRST_LOOK, 0.1), rounds(2 * FIRST_LOOK, 0, 2), LIMIT)
    assert (found.verdict, found.fresh) == ("regressed", FIRST_LOOK)
    assert found.change is not None
    assert found.change.n == FIRST_LOOK


def test_a_change_that_fresh_rounds_do_not_show_is_not_a_regression() -> None:
    """As when a neighbour came and went."""
    logs = rounds(FIRST_LOOK, 0.1) + rounds(30, 0, 3)
    found = decide(logs, rounds(len(logs), 0, 2), LIMIT, ended=True)
    assert found.verdict == "fine"
    assert found.fresh == 30


def test_the_first_stage_alone_never_fails() -> None:
    for number in range(2 * FIRST_LOOK):
        found = decide(rounds(number, 0.5), rounds(number, 0, 2), LIMIT)
        assert found.verdict != "regressed"


def test_a_build_that_did_not_change_is_fine() -> None:
    found = decide(rounds(FIRST_LOOK, 0), rounds(FIRST_LOOK, 0, 2), LIMIT)
    assert found.verdict == "fine"
    assert found.next_look == 9


def test_a_change_that_is_the_limit_is_neither() -> None:
    found = decide(rounds(60, LIMIT), rounds(60, 0, 2), LIMIT, ended=True)
    assert (found.verdict, found.reason) == ("cannot tell", "near the limit")


def test_noise_above_the_limit_is_reported() -> None:
    found = decide(rounds(14, 0, 1, 0.2), rounds(14, 0, 2, 0.2), LIMIT, ended=True)
    assert (found.verdict, found.reason) == ("cannot tell", "noise")


def test_a_baseline_that_differs_from_itself_makes_nothing_fine() -> None:
    found = decide(rounds(14, 0), rounds(14, 0.1, 2), LIMIT, ended=True)
    assert (found.verdict, found.reason) == ("cannot tell", "noise")


def test_a_change_far_beyond_limit_and_noise_is_found_although_the_noise_is_above_the_limit() -> (
    None
):
    found = decide(rounds(28, 1.0, 1, 0.05), rounds(28, 0, 2, 0.05), 0.01)
    assert found.floor is not None
    assert found.floor > 0.01
    assert found.verdict == "regressed"


def test_too_few_rounds_are_reported() -> None:
    for number in range(FIRST_LOOK):
        found = decide(rounds(number, 0.5), rounds(number, 0, 2), LIMIT, ended=True)
        assert (found.verdict, found.reason) == ("cannot tell", "too few rounds")


def test_equal_numbers_in_all_rounds_are_fine_and_a_step_of_them_regresses() -> None:
    """As peak memory often is."""
    assert decide([0.0] * 6, [0.0] * 6, 0.0).verdict == "fine"
    assert decide([0.06] * 12, [0.0] * 12, 0.05).verdict == "regressed"


def test_one_extra_allocation_in_a_million_fails() -> None:
    base, new = [1_000_000] * 6, [1_000_001] * 6
    assert decide_counts(base, new, 0.0) == "regressed"
    assert decide_counts(base, base, 0.0) == "fine"
    assert decide_counts(base, new, 0.000001) == "fine"
    assert decide_counts(base, [999_999] * 6, 0.0) == "fine"
    assert decide_counts([0] * 6, [1] * 6, 0.5) == "regressed"
    assert not is_suspect(base, base, 0.0)


def test_a_larger_count_is_confirmed_before_it_fails() -> None:
    assert decide_counts([100] * 2, [101] * 2, 0.0) == "cannot tell"


def test_a_larger_count_that_is_dear_takes_five_runs_if_all_agree() -> None:
    assert decide_counts([100] * 4, [110] * 4, 0.0, dear=True) == "cannot tell"
    assert decide_counts([100] * 5, [110] * 5, 0.0, dear=True) == "regressed"
    varying = [1_000_000, 1_000_001, 1_000_000]
    assert decide_counts(varying, [1_100_000] * 3, 0.0, dear=True) == "cannot tell"
    assert decide_counts(varying * 2, [1_100_000] * 6, 0.0, dear=True) == "regressed"


def test_counts_that_differ_in_one_build_need_a_margin() -> None:
    assert decide_counts([100, 101], [100, 101], 0.0) == "cannot tell"
    assert decide_counts([100_000, 100_001], [100_050, 100_051], 0.01) == "fine"
    assert decide_counts([100_000, 100_001] * 3, [150_000] * 6, 0.01) == "regressed"
    assert decide_counts([1_000, 1_001] * 3, [1_050] * 6, 0.0) == "cannot tell"


def test_a_metric_that_was_counted_once_cannot_be_told() -> None:
    assert decide_counts([5], [5, 5], 0.0) == "cannot tell"


def test_a_program_that_tosses_a_coin_fails_at_most_once_in_a_thousand() -> None:
    """It makes one call more or less, by chance."""
    tosses = np.random.default_rng(4).integers(0, 2, (20_000, 12))
    wrong = sum(
        decide_counts((100 + row[:6]).tolist(), (100 + row[6:]).tolist(), 0.0) == "regressed"
        for row in tosses
    )
    assert wrong / len(tosses) <= FALSE_FAILURES


@pytest.mark.parametrize(
    ("middle", "verdict"), [(0.9, "fine"), (1.1, "regressed"), (1.0, "cannot tell")]
)
def test_runs_of_one_build_are_judged_against_the_most_that_they_may_need(
    middle: float, verdict: str
) -> None:
    values = np.random.default_rng(4).normal(2.0 * middle, 0.02, 60)
    assert decide_ceiling([*map(float, values)], 2.0, ended=True).verdict == verdict


def test_a_build_that_needs_just_the_most_seldom_exceeds_it() -> None:
    chance = np.random.default_rng(5)
    found = [
        decide_ceiling([*map(float, chance.normal(1.0, 0.05, 40))], 1.0, ended=True).verdict
        for _ in range(400)
    ]
    assert found.count("regressed") <= 2


def test_runs_that_are_far_below_and_far_beyond_a_ceiling_in_turn_are_not_told() -> None:
    for values in ([0.005, 0.3] * 20, [0.3, 0.005] * 20):
        for ceiling in (0.1, 0.02):
            assert decide_ceiling(values, ceiling, ended=True).verdict == "cannot tell"
