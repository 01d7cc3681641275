"""The ladder: one axis for all cells, from zero or logarithmic, and every row on it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from synthetic_shelf import shelf_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.figures import ladder
from heapwise.figures.ladder import LadderStep
from heapwise.model import Row
from heapwise.wording.numbers import Scale

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [row for row in analyse(Evidence(shelf_run())).rows if row.quantity == "throughput"]
SCALE = Scale(1.0, "M/s")


def steps(rows: list[Row]) -> list[LadderStep]:
    return [
        LadderStep(f"fields {word}", [r for r in rows if r.parameters["fields"] == word])
        for word in ("all", "two")
    ]


def draw(found: list[LadderStep]) -> ElementTree.Element:
    return ElementTree.fromstring(ladder.draw(found, SCALE, "layout", "higher"))


def dots(root: ElementTree.Element) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for circle in root.iter(f"{SVG}circle"):
        title = circle.find(f"{SVG}title")
        assert title is not None
        name = (title.text or "").partition(":")[0]
        found.setdefault(name, []).append(float(circle.get("cx", 0)))
    return found


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_every_row_has_its_place_and_its_figures() -> None:
    root = draw(steps(ROWS))
    assert set(dots(root)) == {"aos", "soa", "aos-control"}
    assert words(root).count("refused") == 2
    assert sum(bool(re.fullmatch(r"\d+, \d+–\d+", text)) for text in words(root)) == 6


def test_cells_share_one_axis_that_begins_at_zero() -> None:
    places = dots(draw(steps(ROWS)))
    level, ahead = places["soa"]
    start = 24 + ladder.text_width("aos-control", ladder.SIZE)
    assert (ahead - start) / (level - start) == pytest.approx(1.42, rel=0.02)


def test_far_apart_is_logarithmic() -> None:
    wide = [
        replace(row, median=row.median * 100, ci_low=None, ci_high=None)
        if row.median and row.parameters["fields"] == "two"
        else row
        for row in ROWS
    ]
    places = dots(draw(steps(wide)))
    assert places["soa"][1] < ladder.WIDTH - ladder.FIGURES
    assert places["soa"][0] > 0.1 * ladder.WIDTH


def test_odd_names_are_escaped_and_cut() -> None:
    odd = [replace(row, subject="<b>&'\"" + "x" * 60) for row in ROWS]
    root = draw([LadderStep("a < b", odd)])
    assert "a < b" in words(root)
    assert any(text.endswith("…") for text in words(root))
