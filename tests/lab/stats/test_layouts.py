"""Layouts of a program as a random effect."""

from __future__ import annotations

import os

import numpy as np
import pytest

from heapwise.stats.claims.limits import (
    ALL_LOOKS,
    Rounds,
    decide_at,
    decide_over_layouts,
    suspect_level,
)
from heapwise.stats.ratios.layouts import layout_deviation, layout_means, ratio_over_layouts

CAMPAIGNS = int(os.environ.get("HEAPWISE_CAMPAIGNS", "60"))
ROUNDS = 46
NOISE = 0.005


def effects(chance: np.random.Generator, kind: str, layouts: int) -> np.ndarray:
    """What each layout of one build adds to the logarithm of its time."""
    if kind == "two kinds":
        return np.where(chance.random(layouts) < 0.25, 0.3, 0.0)
    return chance.normal(0, {"1 %": 0.01, "3 %": 0.03}[kind], layouts)


def campaign(
    chance: np.random.Generator, kind: str, layouts: int, change: float
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Log ratios of the new build and of the control, and the layout of each round."""
    numbers = np.arange(1, ROUNDS + 1) % layouts
    base, control, new = (
        effects(chance, kind, layouts)[numbers] + chance.normal(0, NOISE, ROUNDS) for _ in range(3)
    )
    return new + np.log1p(change) - (base + control) / 2, base - control, numbers.tolist()


def verdicts(kind: str, layouts: int, change: float, limit: float, times: int) -> list[str]:
    """Of gates that look as a campaign does: until the first verdict."""
    chance, found = np.random.default_rng(7), []
    for _ in range(times):
        logs, own, numbers = campaign(chance, kind, layouts, change)
        verdict = "cannot tell"
        for look in (each for each in ALL_LOOKS if each <= ROUNDS):
            verdict = decide_over_layouts(
                Rounds.of(logs[:look].tolist(), numbers[:look]),
                Rounds.of(own[:look].tolist(), numbers[:look]),
                limit,
                ended=look == ROUNDS,
            ).verdict
            if verdict != "cannot tell":
                break
        found.append(verdict)
    return found


@pytest.mark.parametrize("layouts", [6, 12])
@pytest.mark.parametrize(("kind", "limit"), [("1 %", 0.01), ("3 %", 0.03), ("two kinds", 0.03)])
def test_a_harmless_build_under_other_layouts_does_not_fail(
    kind: str, limit: float, layouts: int
) -> None:
    """At most 1 in 100 is promised, and 1 in 1,000 expected: of 60 none."""
    found = verdicts(kind, layouts, 0.0, limit, CAMPAIGNS)
    assert found.count("regressed") <= CAMPAIGNS // 200


def test_without_layouts_as_units_the_same_rounds_fail() -> None:
    """One link of each build: the fault that ``--relink`` is for."""
    chance, failed = np.random.default_rng(3), 0
    for _ in range(CAMPAIGNS):
        logs = chance.normal(0, 0.03 * np.sqrt(1.5)) + chance.normal(0, NOISE, ROUNDS)
        own = chance.normal(0, NOISE, ROUNDS)
        found = decide_at(suspect_level(1), logs.tolist(), own.tolist(), 0.03, ended=True)
        failed += found.verdict == "regressed"
    assert failed > CAMPAIGNS / 20


def test_a_real_change_is_found_although_layouts_differ() -> None:
    found = verdicts("1 %", 12, 0.1, 0.03, CAMPAIGNS)
    assert found.count("regressed") >= 0.9 * CAMPAIGNS


def test_a_build_that_did_not_change_is_fine_if_its_layouts_differ_less_than_the_limit() -> None:
    found = verdicts("1 %", 12, 0.0, 0.03, CAMPAIGNS)
    assert found.count("fine") >= 0.9 * CAMPAIGNS


@pytest.mark.parametrize("rounds", [6, 14, 46])
def test_the_interval_holds_the_truth_in_95_percent(rounds: int) -> None:
    chance, held = np.random.default_rng(rounds), 0
    times = 10 * CAMPAIGNS
    for _ in range(times):
        logs, _, numbers = campaign(chance, "3 %", 12, 0.05)
        found = ratio_over_layouts(logs[:rounds], numbers[:rounds])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.05 <= found.high
    assert 0.92 <= held / times <= 0.98


def test_a_ratio_counts_layouts_and_not_rounds() -> None:
    logs, _, numbers = campaign(np.random.default_rng(1), "1 %", 6, 0.0)
    found = ratio_over_layouts(logs, numbers)
    assert found is not None
    assert found.n == len(layout_means(logs, numbers)) == 6


def test_the_deviation_of_layouts_is_told_apart_from_noise() -> None:
    chance = np.random.default_rng(5)
    found = []
    for _ in range(40):
        _, own, numbers = campaign(chance, "3 %", 12, 0.0)
        found.append(layout_deviation(own, numbers))
    assert np.median([each for each in found if each is not None]) == pytest.approx(0.03, rel=0.2)


def test_without_an_effect_of_layouts_their_deviation_is_far_below_the_noise() -> None:
    chance = np.random.default_rng(6)
    own = chance.normal(0, 0.02, 120)
    found = layout_deviation(own, [number % 12 for number in range(120)])
    assert found is not None
    assert found < 0.01


def test_rounds_that_repeat_no_layout_do_not_tell_the_deviation() -> None:
    assert layout_deviation([0.01, 0.02, 0.0, 0.03], [0, 1, 2, 3]) is None
    assert ratio_over_layouts([0.01, 0.02], [0, 1]) is None
