"""Which loads say something about the server, and which are left out with a reason."""

from __future__ import annotations

import pytest
from msgspec import structs

from heapwise.model import LoadFacts
from heapwise.study.server.judgement import load_trouble

SOUND = LoadFacts(
    generator="oha",
    open_loop=True,
    intended_rate=1000.0,
    achieved_rate=995.0,
    requests=9950,
    generator_cpu=0.5,
)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"errors": 50}, "50 of 10,000 requests failed"),
        ({"requests": 0}, "no request was answered"),
        ({"achieved_rate": 985.0}, "of the intended rate of 1000 requests a second was reached"),
        ({"generator_cpu": 0.75}, "used 75.0 % of its processors, so its schedule was late"),
    ],
)
def test_an_unsound_load_is_left_out(changes: dict[str, float], reason: str) -> None:
    status, said = load_trouble(structs.replace(SOUND, **changes))
    assert status == "discarded"
    assert reason in said


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"achieved_rate": 990.0},
        {"generator_cpu": 0.7},
        {"generator_cpu": None},
        {"intended_rate": None, "generator_cpu": 1.0, "achieved_rate": 1.0},
    ],
)
def test_a_sound_load_is_kept(changes: dict[str, float]) -> None:
    assert load_trouble(structs.replace(SOUND, **changes)) == ("ok", "")


def test_a_drawn_number_of_requests_says_nothing_of_the_schedule() -> None:
    """pgbench draws its moments: 5,200 requests of 5,292 intended are a usual number (-1.3 sigma),
    and a schedule that was not reached is one, however many were drawn."""
    drawn = LoadFacts(
        generator="pgbench",
        open_loop=True,
        intended_rate=1323.0,
        achieved_rate=1300.0,
        requests=5200,
        schedule_share=1.0,
    )
    assert drawn.share() == 1.0
    assert load_trouble(drawn) == ("ok", "")
    late = structs.replace(drawn, achieved_rate=1330.0, schedule_share=0.95)
    assert load_trouble(late)[0] == "discarded"
