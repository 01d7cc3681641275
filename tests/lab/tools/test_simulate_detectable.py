"""The stored table is what its generator simulates."""

from __future__ import annotations

import pytest

import simulate_detectable
from heapwise.stats.detectable_table import FACTORS


@pytest.mark.parametrize("rounds", [3, 5, 6, 14])
def test_an_entry_of_the_table_is_simulated_again(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate_detectable, "CAMPAIGNS", 4_000)
    assert simulate_detectable.factor(rounds) == pytest.approx(FACTORS[rounds], rel=0.06)


def test_the_table_has_every_number_of_rounds_that_the_generator_names() -> None:
    assert list(FACTORS) == simulate_detectable.ROUNDS
