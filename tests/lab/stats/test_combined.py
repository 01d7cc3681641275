"""One ratio over many rows: a known answer, an interval that covers, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from heapwise.stats.ratios.combined import combined_ratio


def test_without_noise_it_is_the_geometric_mean() -> None:
    found = combined_ratio({"a": dict.fromkeys(range(3), 2.0), "b": dict.fromkeys(range(3), 0.5)})
    assert (found.ratio, found.n) == (pytest.approx(1.0), 3)
    assert (found.low, found.high) == (pytest.approx(1.0), pytest.approx(1.0))


@pytest.mark.parametrize("correlation", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("rounds", [4, 6, 14])
def test_the_interval_covers_also_where_rows_depend_on_each_other(
    rounds: int, correlation: float
) -> None:
    random = np.random.default_rng(rounds)
    truth = np.log([1.2, 0.9, 1.6, 1.1, 2.0, 0.7])
    hits, campaigns = 0, 500
    for _ in range(campaigns):
        common = random.normal(size=rounds)
        own = random.normal(size=(len(truth), rounds))
        logs = truth[:, None] + 0.05 * (
            np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        )
        found = combined_ratio(
            {str(row): dict(enumerate(np.exp(numbers))) for row, numbers in enumerate(logs)}
        )
        hits += (found.low or 9) <= float(np.exp(truth.mean())) <= (found.high or 0)
    assert 0.92 <= hits / campaigns <= 0.99


def test_only_rounds_in_which_every_row_was_measured_have_an_interval() -> None:
    whole = dict(enumerate([2.0, 2.1, 1.9, 2.0]))
    late = {number: ratio for number, ratio in whole.items() if number > 1}
    assert combined_ratio({"a": whole, "b": whole}).low is not None
    found = combined_ratio({"a": whole, "b": late})
    assert (found.low, found.high) == (None, None)
    assert "measured in 2 rounds" in found.note
    assert found.ratio == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("bad", [{}, {"a": {}}, {"a": {0: 1.0, 1: -2.0}}])
def test_values_that_it_refuses(bad: dict[str, dict[int, float]]) -> None:
    with pytest.raises(ValueError, match=r"needs|above zero"):
        combined_ratio(bad)
