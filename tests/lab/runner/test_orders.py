"""Which process runs after which."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from synthetic import Script, compare_run

from heapwise.runner.campaign.steps import order_of, steps_of_round

NAMES = ["a", "b", "c", "d"]


def test_each_subject_follows_each_equally_often_itself_among_them() -> None:
    rounds = 4_000
    order = [name for round_ in range(rounds) for name in order_of(7, round_, NAMES)]
    follows = Counter(pairwise(order))
    expected = rounds / len(NAMES)
    assert len(follows) == len(NAMES) ** 2
    assert all(abs(count - expected) < 5 * expected**0.5 for count in follows.values())


@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_a_round_has_each_subject_once_and_begins_as_the_one_before_it_ended(number: int) -> None:
    names = [f"s{place}" for place in range(number)]
    for first, second in pairwise(order_of(3, round_, names) for round_ in range(60)):
        assert sorted(first) == names
        assert second[0] == first[-1]


def test_the_rounds_of_a_comparison_have_this_order() -> None:
    run = compare_run(Script()).run
    orders = [
        [step.subject.name for step in steps_of_round(run.plan, run.experiments, round_)]
        for round_ in range(1, 9)
    ]
    assert all(second[0] == first[-1] for first, second in pairwise(orders))
    assert len(set(map(tuple, orders))) > 4
