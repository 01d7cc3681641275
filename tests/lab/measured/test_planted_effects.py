"""``compare`` finds effects that are planted in real programs, beside busy processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workshop.planted.judged import Looked, counting
from workshop.planted.measure import Settings, chosen, look_at

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("built_native")]

TIME, OPTIONS = "12s", ["--warmup", "0"]
BUSY = 2 * (os.cpu_count() or 1)

TRIES = 3
"""An interval of 95 % may miss the truth, and few rounds beside busy processes may have none."""


def looked_at(name: str, settings: Settings, folder: Path) -> Looked:
    found, missing = chosen(1, [name])
    if missing:
        pytest.skip(f"{name} is not installed")
    return look_at(found[0], settings, folder)


@pytest.mark.parametrize(("name", "percent"), [("sqlite3", 25), ("jq", 50)])
def test_the_interval_has_the_planted_effect_and_no_verdict_its_opposite(
    name: str, percent: int, tmp_path: Path
) -> None:
    settings = Settings([percent], TIME, BUSY, OPTIONS, whole_runs=True)
    for number in range(TRIES):
        looked = looked_at(name, settings, tmp_path / str(number))
        [effect] = counting(looked.effects)
        assert effect.sign != "wrong", looked
        assert percent * 0.95 < effect.true.effect < percent
        if effect.holds:
            return
    pytest.fail(f"the interval misses the truth each time: {looked}")


def test_no_verdict_is_the_opposite_of_planted_steps(tmp_path: Path) -> None:
    """What they cost is only known about: a step costs the same, but in some minutes the program's
    own work is twice as dear."""
    looked = looked_at("sqlite3", Settings([10], TIME, BUSY, OPTIONS), tmp_path)
    [effect] = counting(looked.effects)
    assert effect.sign != "wrong", looked
    assert 3 < effect.true.effect < 30
    assert effect.there is None or 3 < effect.there.effect < 30
