"""When the last step of a bisection is the change that was looked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heapwise.runner import Bisection, Checkout, Suspects, Worktrees
from heapwise.runner.commits.bisection import LOOK_CONFIDENCE, LOOKS, Learned
from heapwise.stats.ratios.paired import PairedRatio, ratio_of_logs


def step(change: float, spread: float = 0.001) -> PairedRatio:
    return ratio_of_logs(np.log1p(change) + spread * np.linspace(-1, 1, 14))


@pytest.fixture
def search(tmp_path: Path) -> Callable[[float | None], Bisection]:
    def with_whole(whole: float | None) -> Bisection:
        trees = Worktrees(Checkout(tmp_path, Path(), Path("app"), "true"), tmp_path)
        found = Bisection(
            trees,
            Suspects(["good", "bad"]),
            ["app"],
            "wall_time",
            tmp_path,
            1.0,
            lambda: pytest.fail("nothing is measured"),
            print,
        )
        found.learned.whole = whole
        return found

    return with_whole


@pytest.mark.parametrize(
    ("whole", "found", "said"),
    [
        (1.40, step(0.40), ""),
        (1.40, step(0.25), ""),
        (1.40, step(-0.003), "the other direction"),
        (1.40, step(0.10), "more than half"),  # one of several that make the difference together
        (1.40, step(0.18, 0.4), "more than half"),
        (0.80, step(-0.20), ""),
        (0.80, step(0.20), "the other direction"),
        (None, step(0.40), "does not differ"),  # the ends were never told apart
        (1.40, None, "does not differ"),
    ],
)
def test_the_last_step_has_direction_and_size_of_the_whole_change(
    search: Callable[[float | None], Bisection],
    whole: float | None,
    found: PairedRatio | None,
    said: str,
) -> None:
    why = search(whole)._doubt(found, differs=True)
    assert said in why
    assert bool(said) == bool(why)


def test_looking_again_does_not_find_a_difference_of_equal_programs() -> None:
    """A stage is judged at its time, and at twice and four times as much."""
    random, wrong, campaigns = np.random.default_rng(3), 0, 200
    for _ in range(campaigns):
        logs = 0.01 * random.normal(size=6 * 2 ** (LOOKS - 1))
        ends = [ratio_of_logs(logs[: 6 * 2**look]).ends(LOOK_CONFIDENCE) for look in range(LOOKS)]
        wrong += any(end is not None and not end[0] <= 1 <= end[1] for end in ends)
    assert wrong <= 0.01 * campaigns + 3 * (0.01 * campaigns) ** 0.5


def test_nothing_learned_of_other_ends_counts() -> None:
    learned = Learned("one", {"c1": "like bad"}, 1.4)
    assert learned.about_again("one") == learned
    assert learned.about_again("two") == Learned("two")


def test_commits_that_could_not_be_built_or_told_are_tried_again() -> None:
    learned = Learned("one", {"a": "like good", "b": "skipped", "c": "cannot tell"}, 1.4)
    assert learned.about_again("one").states == {"a": "like good"}
