from __future__ import annotations

import pytest

from heapwise.wording.numbers import (
    change,
    ends,
    percent,
    scale_for,
    show,
    signed,
    significant,
    tick_percent,
    times,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.408, "s", "2.41 s"),
        (0.0125, "s", "12.5 ms"),
        (3.2e-6, "s", "3.20 µs"),
        (812 * 2**20, "bytes", "812 MiB"),
        (0, "bytes", "0 B"),
        (6.857, "ns/op", "6.86 ns/op"),
        (1234.5, "count", "1,234"),
    ],
)
def test_show(value: float, unit: str, text: str) -> None:
    assert show(value, unit) == text


def test_one_scale_for_a_column() -> None:
    scale = scale_for([0.9, 2.5, None, 0.0], "s")
    assert (scale.label, scale.number(2.5)) == ("ms", "2,500")


def test_significant() -> None:
    assert [significant(x) for x in (0.01234, 1.0, 99.95, 12345.6)] == [
        "0.0123",
        "1.00",
        "100",
        "12,346",
    ]


def test_change_in_words() -> None:
    assert change(0.905, "more", "less") == "9.5 % less"
    assert change(1.073, "more", "less") == "7.3 % more"
    assert change(2.408, "slower", "faster") == "2.41x slower"
    assert change(0.4, "slower", "faster") == "2.50x faster"
    assert change(0.4, "more", "less") == "60.0 % less"
    assert change(2.408, "more", "less") == "2.41x as much"
    assert change(0.01, "more", "less") == "100x less"
    assert times(11.015) == "11.0x"


def test_percent_is_never_nothing_for_something() -> None:
    assert [percent(x) for x in (0.0, 0.0123, 0.4872, 0.0004, 1e-9, 59.53, -0.02)] == [
        "0.0 %",
        "1.2 %",
        "48.7 %",
        "0.04 %",
        "0.0000001 %",
        "5,953 %",
        "−2.0 %",
    ]


def test_signed() -> None:
    assert [signed(1.023), signed(0.997)] == ["+2.3", "−0.3"]
    assert [tick_percent(x) for x in (0.05, -0.025, 2.0)] == ["+5 %", "−2.5 %", "+200 %"]


def test_ends() -> None:
    assert ends(6.314, 6.52) == "6.31 to 6.52"
    assert scale_for([0.9], "s").ends(0.9, 2.5) == "900 to 2,500"


def test_a_number_that_rounds_up_to_one_is_written_as_one() -> None:
    assert significant(0.99996) == "1.00"
    assert significant(9.996) == "10.0"
