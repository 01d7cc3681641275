from __future__ import annotations

import pytest

from heapwise.errors import Problem
from heapwise.wording.durations import (
    cost,
    longer_duration,
    parse_duration,
    show_duration,
    show_limit,
    typed_duration,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("1.5m", 90),
        ("1m30s", 90),
        ("2h", 7200),
        ("500ms", 0.5),
        ("10 min", 600),
        ("1h30m", 5400),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text, "--time") == seconds


@pytest.mark.parametrize(
    ("seconds", "text"), [(7.2, "8s"), (119, "119s"), (120, "2m"), (601, "11m"), (3600, "60m")]
)
def test_a_duration_to_type_is_not_shorter(seconds: float, text: str) -> None:
    assert typed_duration(seconds) == text
    assert parse_duration(text, "--time") >= seconds


def test_a_longer_time_is_ten_minutes_or_twice_the_longest() -> None:
    assert longer_duration(8, 30) == "10m"
    assert longer_duration(610, 600) == "21m"


@pytest.mark.parametrize("text", ["", "x", "1d", "m", "-5", "0", "1m x", "1..5s", "s5"])
def test_no_durations(text: str) -> None:
    with pytest.raises(Problem) as caught:
        parse_duration(text, "--time")
    assert caught.value.id == "E003"


def test_shown_durations() -> None:
    assert [show_duration(s) for s in (0.4, 52, 725, 3600)] == ["0:00", "0:52", "12:05", "1:00:00"]
    assert [show_limit(s) for s in (0.001, 0.5, 10, 150, 180)] == [
        "1 ms",
        "500 ms",
        "10 s",
        "2 min 30 s",
        "3 min",
    ]
    assert [cost(s) for s in (0.2, 60, 600, 7200)] == [
        "about 1 s",
        "about 60 s",
        "about 10 min",
        "about 2.0 h",
    ]
