from __future__ import annotations

from dataclasses import replace

import pytest

from heapwise.model import Cell, Row, Settings
from heapwise.wording.ratios import change_ends, interval, relation, with_interval


def row(
    ratio: float | None,
    low: float | None,
    high: float | None,
    verdict: str = "",
    unit: str = "s",
    note: str = "",
) -> Row:
    return Row(
        "x",
        Cell("compare", Settings({}), "time"),
        unit,
        "lower",
        12,
        1.0,
        1.0,
        1.0,
        1.0,
        0.0,
        1.0,
        1.0,
        ratio,
        low,
        high,
        verdict=verdict,
        note=note,
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "words", "between"),
    [
        (row(0.905, 0.898, 0.911, "better"), "1.10x faster", "1.10 to 1.11"),
        (row(1.073, 1.06, 1.08, "worse", "bytes"), "1.07x as much", "1.06 to 1.08"),
        (row(0.97, 0.96, 0.98, "better"), "3.0 % faster", "2.0 to 4.0 %"),
        (row(0.5, 0.4, 0.6, "worse", "M/s"), "2.00x slower", "1.67 to 2.50"),
        (row(2.408, 2.38, 2.44, "worse"), "2.41x slower", "2.38 to 2.44"),
        (row(0.25, 0.2, 0.4, "better", "bytes"), "75.0 % less", "60.0 to 80.0 %"),
        (row(0.084, 0.08397, 0.08404, "better", "bytes"), "91.6 % less", "91.6 %"),
        (row(0.25, 0.2499, 0.2501, "better"), "4.00x faster", "4.00"),
        (row(0.01, 0.008, 0.0125, "better", "bytes"), "100x less", "80.0 to 125"),
        (row(1.001, 0.997, 1.003, "no difference"), "no difference ±0.3 %", "−0.3 to +0.3 %"),
        (row(1.0, 1.0, 1.0, "no difference"), "no difference", "+0.0 %"),
        (row(0.98, 0.95, 1.02, "cannot tell"), "cannot tell yet", "−5.0 to +2.0 %"),
        (row(None, None, None, note="crashed 3 of 3"), "crashed 3 of 3", ""),
    ],
)
def test_a_row_against_its_baseline(found: Row, words: str, between: str) -> None:
    assert (relation(found), interval(found)) == (words, between)


@pytest.mark.parametrize(
    ("words", "between", "said"),
    [
        ("91.6 % less", "91.6 %", "91.6 % less"),
        ("91.6 % less", "91.5 to 91.6 %", "91.6 % less (91.5 to 91.6 %)"),
        ("4.00x faster", "4.00", "4.00x faster"),
        ("24.0x faster", "4.00", "24.0x faster (4.00)"),
        ("crashed 3 of 3", "", "crashed 3 of 3"),
    ],
)
def test_an_interval_that_rounds_to_the_number_is_not_said_again(
    words: str, between: str, said: str
) -> None:
    assert with_interval(words, between) == said


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [
        (15.2, 9.9, 23.3, "9.90 to 23.3"),
        (1.9, 1.8, 2.1, "80.0 to 110.0 %"),
        (0.45, 0.36, 0.56, "1.79 to 2.78"),
        (0.9999, 0.997, 1.002, "−0.3 to +0.2 %"),
    ],
)
def test_the_interval_of_a_change_has_the_unit_and_the_sign_of_its_estimate(
    ratio: float, low: float, high: float, words: str
) -> None:
    assert change_ends(ratio, low, high, "faster") == words


def test_processor_time_is_used_up_and_not_slow() -> None:
    used = row(2.5, 2.4, 2.6, "worse", "ns/op")
    used = replace(used, cell=replace(used.cell, quantity="processor_time"))
    assert relation(used) == "2.50x as much"
