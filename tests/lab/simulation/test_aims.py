"""A comparison of three minutes reaches its aims: few campaigns of some of them.

``tools/simulate --aims`` draws more, and names the aims that are not reached.
"""

from __future__ import annotations

import pytest

from simulation.aims import aims
from simulation.answers import ask

CAMPAIGNS = 8

REACHED = (
    "six allocators, noise 0.5 %: 1.0% is told",
    "six allocators, noise 1.8 %, racing: 2.0% is told",
    "side by side, one pair: 2.0% is told",
    "side by side, six allocators: 5.0% is told",
    "identical, called different: slower by 3 % after the first of 1",
    "interval holds the truth, states of runs, 20 earlier runs",
)


@pytest.mark.parametrize("name", REACHED)
def test_the_aim_is_reached(name: str) -> None:
    aim = aims()[name]
    found = ask(aim, CAMPAIGNS, name)
    assert not found.contradicts(aim.low, aim.high), found


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n, aim in aims().items() if aim.question == "different"])
def test_identical_subjects_are_rarely_called_different(name: str) -> None:
    aim = aims()[name]
    found = ask(aim, 60, name)
    assert not found.contradicts(aim.low, aim.high, 0.999), found
