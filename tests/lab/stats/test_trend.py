from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.series.trend import halves, trend


def test_a_straight_line_has_tau_one_and_its_own_drift() -> None:
    found = trend([float(i) * 2 for i in range(10)])
    assert found is not None
    assert found.tau == pytest.approx(1.0)
    assert found.drift == pytest.approx(18.0)
    assert found.p_value == pytest.approx(2 / 3628800)


def test_the_order_given_counts_not_the_place() -> None:
    values = [3.0, 1.0, 2.0, 6.0, 5.0, 4.0]
    found = trend(values, order=values)
    assert found is not None
    assert found.tau == pytest.approx(1.0)


def test_false_alarms_are_as_rare_as_promised() -> None:
    random = np.random.default_rng(5)
    alarms = 0
    for _ in range(1000):
        found = trend(list(random.lognormal(0, 0.1, 20)))
        alarms += found is not None and found.p_value < 0.05
    assert 25 <= alarms <= 75


def test_a_drift_under_noise_is_found() -> None:
    random = np.random.default_rng(6)
    found = trend(list(np.linspace(0, 0.1, 60) + random.normal(0, 0.02, 60)))
    assert found is not None
    assert found.p_value < 1e-6
    assert found.drift == pytest.approx(0.1, abs=0.03)


def test_halves_see_a_step_and_not_a_level_line() -> None:
    random = np.random.default_rng(8)
    noise = random.normal(0, 1, 40)
    step = noise + np.where(np.arange(40) < 20, 0, 3)
    level, stepped = halves(list(noise)), halves(list(step))
    assert level is not None
    assert stepped is not None
    assert stepped.p_value < 1e-4 < level.p_value
    assert stepped.shift == pytest.approx(3, abs=1)


def test_too_few_values_give_no_verdict() -> None:
    assert trend([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert halves([1.0] * 9) is None
