"""``compare`` finds effects that are planted in real programs, beside busy processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workshop.planted.judged import counting
from workshop.planted.measure import Settings, chosen, look_at

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("built_native")]

SETTINGS = Settings([10], "12s", 2 * (os.cpu_count() or 1), ["--warmup", "0"])
TRIES = 2
"""An interval of 95 % may miss the truth in one of 20 runs."""


@pytest.mark.parametrize("name", ["sqlite3", "jq"])
def test_an_effect_in_a_real_program_is_never_turned_round_and_is_in_the_interval(
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
        assert 9 < effect.true < 11
        if effect.holds:
            break
    assert effect.holds, looked
