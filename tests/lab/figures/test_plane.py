"""The plane of time and memory: marks, curves, and their words for readers who cannot see them."""

from __future__ import annotations

import re

from heapwise.figures import plane
from heapwise.figures.plane import Mark, Trail


def mark(name: str, time: float, memory: float) -> Mark:
    return Mark(name, (time * 0.9, time, time * 1.1), (memory, memory, memory))


def drawn(trails: list[Trail]) -> str:
    return plane.draw(
        trails,
        ["explicit", "collectors"],
        "Title",
        (lambda seconds: f"{seconds:g} s", lambda size: f"{size:g} MiB"),
    )


def test_one_mark_is_a_point_and_several_are_a_curve_in_their_order() -> None:
    svg = drawn(
        [
            Trail("glibc", [mark("glibc", 5, 100)], 0),
            Trail("go", [mark("go/25", 8, 80), mark("go/100", 4, 160)], 1),
        ]
    )
    line = re.search(r'<polyline points="([^"]+)"', svg)
    assert svg.count("<polyline") == 1
    assert line is not None
    (x0, y0), (x1, y1) = (tuple(map(float, p.split(","))) for p in line.group(1).split())
    assert x0 > x1, "faster is left"
    assert y0 > y1, "larger is up"
    assert "go/25 8 s 80 MiB" in svg
    assert "explicit" in svg
    assert "collectors" in svg


def test_only_kinds_that_are_there_are_in_the_legend() -> None:
    svg = drawn([Trail("a", [mark("a", 1, 1)], 0), Trail("b", [mark("b", 2, 3)], 0)])
    assert "collectors" not in svg


def test_names_are_escaped() -> None:
    assert "<b>" not in drawn(
        [Trail("<b>", [mark("<b>", 1, 1)], 0), Trail("c", [mark("c", 2, 2)], 0)]
    )
