from __future__ import annotations

import pytest

from heapwise.wording.numbers import change, scale_for, show, significant, times


@pytest.mark.parametrize(("value", "unit", "text"), [
    (2.408, "s", "2.41 s"), (0.0125, "s", "12.5 ms"), (3.2e-6, "s", "3.20 µs"),
    (812 * 2**20, "bytes", "812 MiB"), (0, "bytes", "0 B"), (6.857, "ns/op", "6.86 ns/op"),
    (1234.5, "count", "1,234"),
])
def test_show(value: float, unit: str, text: str) -> None:
    assert show(value, unit) == text


def test_one_scale_for_a_column() -> None:
    scale = scale_for([0.9, 2.5, None, 0.0], "s")
    assert (scale.label, scale.number(2.5)) == ("ms", "2,500")


def test_significant() -> None:
    assert [significant(x) for x in (0.01234, 1.0, 99.95, 12345.6)] == [
        "0.0123", "1.00", "100", "12,346"]


def test_change_in_words() -> None:
    assert change(0.905, "more", "less") == "9.5 % less"
    assert change(1.073, "more", "less") == "7.3 % more"
    assert times(11.015) == "11.0x"


def test_what_rounds_up_to_one_is_written_as_one() -> None:
    assert significant(0.99996) == "1.00"
    assert significant(9.996) == "10.0"
