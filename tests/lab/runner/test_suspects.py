"""Which commits are measured next, and what follows from what is known."""

from __future__ import annotations

import pytest

from heapwise.runner.commits.suspects import AT_ONCE, Suspects, side_of


def search(count: int, culprit: int, broken: frozenset[int] = frozenset()) -> tuple[int, Suspects]:
    """The number of stages, with a measurement that never errs."""
    suspects = Suspects([str(number) for number in range(count)])
    stages = 0
    while chosen := suspects.next():
        stages += 1
        for commit in chosen:
            suspects.states[commit] = (
                "skipped"
                if int(commit) in broken
                else "like bad"
                if int(commit) >= culprit
                else "like good"
            )
    return stages, suspects


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 31, 100])
def test_every_culprit_is_cornered_in_few_stages(count: int) -> None:
    for culprit in range(1, count):
        stages, suspects = search(count, culprit)
        assert suspects.ends == (culprit - 1, culprit)
        assert (AT_ONCE + 1) ** (stages - 1) <= count
        assert not suspects.went_back


def test_commits_that_do_not_build_leave_a_range() -> None:
    _, suspects = search(30, 17, frozenset([16, 17]))
    assert suspects.ends == (15, 18)
    assert search(30, 17, frozenset([3, 25]))[1].ends == (16, 17)


def test_of_several_changes_the_last_one_is_found() -> None:
    suspects = Suspects(list("abcdef"), {"b": "like bad", "c": "like good", "d": "like good"})
    suspects.states["e"] = "like bad"
    assert suspects.ends == (3, 4)
    assert suspects.went_back


@pytest.mark.parametrize(
    ("interval", "whole", "state"),
    [
        ((0.99, 1.01), 1.05, "like good"),
        ((1.03, 1.06), 1.05, "like bad"),
        ((1.01, 1.04), 1.05, "cannot tell"),
        ((1.10, 1.20), 1.05, "like bad"),
        ((0.94, 0.96), 0.95, "like bad"),
        ((0.99, 1.0), 0.95, "like good"),
        ((0.5, 0.9), 1.05, "like good"),
    ],
)
def test_a_commit_belongs_to_the_nearer_end(
    interval: tuple[float, float], whole: float, state: str
) -> None:
    assert side_of(interval, whole) == state
