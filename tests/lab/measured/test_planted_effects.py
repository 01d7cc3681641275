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

NOT_RECORDED = 0.1
"""Of the effect: costs that follow from the planted work, as colder caches."""


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
        assert effect.true is not None, looked
        assert abs(effect.true - PERCENT) < NOT_RECORDED * PERCENT
        if effect.low is not None and effect.high is not None:
            if effect.low <= effect.true * (1 + NOT_RECORDED) and effect.high >= effect.true:
                return
    pytest.fail(f"the interval misses {effect.true} % each time: {looked}")
