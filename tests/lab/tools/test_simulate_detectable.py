"""The stored table is what its generator simulates."""

from __future__ import annotations

import pytest

import simulate_detectable
from heapwise.stats.ratios.detectable_table import FACTORS


@pytest.mark.parametrize(("subjects", "rounds"), [(1, 3), (1, 6), (6, 5), (6, 14)])
def test_an_entry_of_the_table_is_simulated_again(subjects: int, rounds: int) -> None:
    found = simulate_detectable.factor(rounds, subjects)
    assert found == pytest.approx(FACTORS[subjects][rounds], rel=0.06)


def test_the_table_has_every_number_of_rounds_that_the_generator_names() -> None:
    assert list(FACTORS) == simulate_detectable.SUBJECTS
    assert all(list(row) == simulate_detectable.ROUNDS for row in FACTORS.values())
