"""Gates of builds whose rare runs differ, and of builds whose runs do not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from heapwise.analysis.verdicts.rare_words import rare_share, rare_words, unseen
from heapwise.stats.claims.limits import Decision, RunsOfBoth
from heapwise.stats.claims.rare_limits import SEEN, decide_with_rare
from heapwise.stats.claims.rare_runs import rare_runs

LIMIT = 0.03


def gate(
    random: np.random.Generator,
    rounds: int,
    new: float,
    base: float,
    size: float = 2.0,
    limit: float = LIMIT,
) -> tuple[Decision, int]:
    """With its looks, until it decides or the rounds are over. new, base: shares of rare runs."""
    above, below, control = (
        np.where(random.random(rounds) < share, size, 1)
        * np.exp(0.003 * random.normal(size=rounds))
        for share in (new, base, base)
    )
    logs = np.log(above) - (np.log(below) + np.log(control)) / 2
    look = 6
    while True:
        ended, look = look >= rounds, min(look, rounds)
        found = decide_with_rare(
            logs[:look].tolist(),
            (np.log(below) - np.log(control))[:look].tolist(),
            limit,
            ended=ended,
            runs=RunsOfBoth(above[:look].tolist(), below[:look].tolist(), control[:look].tolist()),
        )
        if ended or found.verdict != "cannot tell" or found.next_look is None:
            return found, look
        look = found.next_look


def verdicts(rounds: int, new: float, base: float, gates: int = 20) -> Counter[str]:
    random = np.random.default_rng(11)
    return Counter(gate(random, rounds, new, base)[0].verdict for _ in range(gates))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05])
def test_builds_with_equal_rare_runs_do_not_fail(share: float) -> None:
    found = verdicts(100, share, share)
    assert found["regressed"] == 0
    assert found["fine"] >= 16


@pytest.mark.parametrize(
    ("share", "fine"), [pytest.param(0.1, 5, marks=pytest.mark.long), (0.2, 2)]
)
def test_runs_that_take_twice_as_long_now_and_then_are_seldom_fine(share: float, fine: int) -> None:
    """Before, a tenth of such runs was fine in all gates."""
    found = verdicts(200, share, 0.0)
    assert found["fine"] <= fine
    assert found["regressed"] >= 13


def test_rare_runs_that_keep_the_mean_within_the_limit_are_fine() -> None:
    assert verdicts(200, 0.01, 0.0)["fine"] >= 17


def test_rare_runs_that_raise_the_mean_by_the_limit_do_not_fail() -> None:
    """Before, shares that were not equal were enough, and a fifth of such gates failed."""
    random = np.random.default_rng(6)
    found = Counter(gate(random, 200, 0.1, 0.0, limit=0.1)[0].verdict for _ in range(30))
    assert found["regressed"] == 0


def test_a_large_share_of_the_base_is_not_held_against_the_new_build() -> None:
    assert verdicts(100, 0.0, 0.1)["fine"] >= 16


def test_fine_takes_enough_rounds_to_see_them_or_says_so() -> None:
    random = np.random.default_rng(1)
    found, rounds = gate(random, 100, 0.0, 0.0)
    assert (found.verdict, rounds) == ("fine", SEEN)
    assert unseen(found.rare) == ""
    found, rounds = gate(random, 9, 0.0, 0.0)
    assert (found.verdict, rounds) == ("fine", 9)
    assert unseen(found.rare) == (
        "; in 9 rounds rare runs that need more are not seen if they are fewer than 28.3 %"
    )


def test_rare_runs_in_words() -> None:
    found = rare_runs([20.0] * 23 + [200.0] * 5, [21.0] * 56, LIMIT)
    assert found is not None
    assert rare_words(found, "new", "base") == (
        "5 of 28 runs of new need 10.0x as much as a typical run (17.9 % of them, 95 % CI "
        "6.1 to 36.9 %), and 0 of 56 of base"
    )
    share = rare_share(found)
    assert share is not None
    assert share.p_value < 0.01
    assert rare_share(rare_runs([1.0] * 9, [1.0] * 9, LIMIT)) is None
