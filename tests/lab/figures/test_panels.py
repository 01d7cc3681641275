"""Panels: the same lines in every panel, every sample a dot, nothing outside the picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from drawn import SVG, dots
from synthetic_heap import Heap, heap_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.figures import curves, panels, tradeoff
from heapwise.figures.panels import Panel
from heapwise.figures.svg import text_width
from heapwise.model import Row
from heapwise.wording.numbers import scale_for

ROWS = [
    r
    for r in analyse(Evidence(heap_run(Heap(threads=(1,))))).rows
    if r.quantity == "throughput" and not r.subject.endswith("-control")
]
NAMES = [
    "malloc@glibc",
    "malloc@jemalloc",
    "malloc@mimalloc",
    "malloc@tcmalloc",
    "malloc@heapwise",
    "a_name_that_is_longer_than_any_column_should_be",
]


def workloads(number: int) -> list[Panel]:
    ids = list(dict.fromkeys(row.experiment for row in ROWS))
    found = [[r for r in ROWS if r.experiment == id] for id in (ids * 3)[:number]]
    return [
        Panel(rows[0].experiment, rows, scale_for([r.min for r in rows], rows[0].unit))
        for rows in found
    ]


def parse(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text)
    assert root.get("aria-label")
    return root


def draw(found: list[Panel]) -> ElementTree.Element:
    return parse(panels.draw(found, NAMES, "throughput", left="slower", right="faster"))


def reach(text: ElementTree.Element) -> tuple[float, float]:
    """How far a text goes to either side, by the same estimate that places it."""
    width = text_width(text.text or "", float(text.get("font-size", 12)))
    x = float(text.get("x", 0))
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[text.get("text-anchor", "start")]
    return left, left + width


@pytest.mark.parametrize("number", [1, 2, 4, 7])
def test_every_panel_has_every_sample_and_nothing_sticks_out(number: int) -> None:
    found = workloads(number)
    root = draw(found)
    medians = list(root.iter(f"{SVG}circle"))
    assert len(medians) == sum(1 for panel in found for row in panel.rows)
    assert len(dots(root)) > 0.9 * sum(row.n + 1 for panel in found for row in panel.rows)
    wide, high = (float(v) for v in (root.get("viewBox") or "").split()[2:])
    for x, y in dots(root):
        assert 0 < x < wide
        assert 0 < y < high
    for text in root.iter(f"{SVG}text"):
        left, right = reach(text)
        assert left >= 0, text.text
        assert right <= wide + 1, text.text


def test_a_line_that_is_missing_says_why() -> None:
    rows = [
        replace(r, median=None, values=[], status="timed_out") if "jemalloc" in r.subject else r
        for r in workloads(1)[0].rows
    ]
    words = [t.text for t in draw([replace(workloads(1)[0], rows=rows)]).iter(f"{SVG}text")]
    assert "timed out" in words
    assert "not in this experiment" in words
    empty: list[Row] = [replace(r, median=None, values=[], ci_low=None, ci_high=None) for r in rows]
    words = [t.text for t in draw([replace(workloads(1)[0], rows=empty)]).iter(f"{SVG}text")]
    assert "nothing was measured" in words


def test_without_a_subject_there_is_no_figure() -> None:
    assert panels.draw(workloads(1), [], "nobody", left="slower", right="faster") == ""


def test_faster_is_to_the_right_with_the_interval_round_the_median() -> None:
    root = draw(workloads(1))
    medians = {
        (e[0].text or "").partition(":")[0]: float(e.get("cx", 0))
        for e in root.iter(f"{SVG}circle")
        if len(e)
    }
    assert medians["malloc@glibc"] < medians["malloc@mimalloc"] < medians["malloc@heapwise"]
    bars = [e for e in root.iter(f"{SVG}line") if e.get("stroke-linecap") == "round"]
    assert len(bars) == 5


def test_no_subject_has_a_colour_of_its_own() -> None:
    drawn = panels.draw(workloads(2), NAMES, "t", left="l", right="r")
    paints = set(re.findall(r'<(?:circle|path)[^>]*(?:fill|stroke)="(var[^"]+)"', drawn))
    assert paints == {"var(--accent)", "var(--soft)"}


def test_the_ends_of_a_map_say_that_it_is_of_speed() -> None:
    points = [
        tradeoff.TradeoffPoint("base", (1, 1, 1), (1, 1, 1), baseline=True),
        tradeoff.TradeoffPoint("quick", (1.8, 1.9, 2.0), (0.8, 0.85, 0.9)),
    ]
    root = parse(tradeoff.draw(points, words=tradeoff.SPEED))
    words = [t.text for t in root.iter(f"{SVG}text")]
    assert "← slower · speed · faster →" in words
    assert "quick: speed x1.900 (1.800 to 2.000)" in (root.get("aria-label") or "")
    assert all(
        reach(t)[1] <= 760
        for t in root.iter(f"{SVG}text")
        if "rotate" not in (t.get("transform") or "")
    )


def test_long_names_at_the_end_of_lines_are_not_cut() -> None:
    found = [
        curves.Curve("malloc@an-allocator-with-a-long-name", [curves.Knot(0, 1.0)]),
        curves.Curve("b", [curves.Knot(0, 2.0)]),
    ]
    root = parse(curves.draw(found, ["1"], "t", "threads", str, "scaling"))
    wide = float((root.get("viewBox") or "").split()[2])
    assert all(reach(t)[1] <= wide for t in root.iter(f"{SVG}text"))
