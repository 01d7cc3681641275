"""``compare`` finds effects that are planted in real programs, beside busy processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workshop.planted.judged import counting
from workshop.planted.measure import Settings, chosen, look_at

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("built_native")]

PERCENT = 10
SETTINGS = Settings([PERCENT], "12s", 2 * (os.cpu_count() or 1), ["--warmup", "0"])

TRIES = 3
"""An interval of 95 % may miss the truth, and few rounds beside busy processes may have none."""


@pytest.mark.parametrize("name", ["sqlite3", "jq"])
def test_the_interval_has_the_planted_effect_and_no_verdict_its_opposite(
    name: str, tmp_path: Path
) -> None:
    found, missing = chosen(1, [name])
    if missing:
        pytest.skip(f"{name} is not installed")
    for number in range(TRIES):
        looked = look_at(found[0], SETTINGS, tmp_path / str(number))
        [effect] = counting(looked.effects)
        assert effect.sign != "wrong", looked
        assert abs(effect.true.effect - PERCENT) < PERCENT / 2
        if effect.holds:
            return
    pytest.fail(f"the interval misses the truth each time: {looked}")
