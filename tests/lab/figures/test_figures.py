"""Every figure is well-formed SVG that escapes, names itself and shows what it was given."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from drawn import SVG, dots
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import compare_run, pool_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.figures import curves, forest, latency, order, scaling, sizes, strip, tradeoff
from heapwise.figures.axis import even_ticks, linear, logarithmic, ratio_label, ratio_ticks
from heapwise.figures.labels import Rectangle, place_labels, spread
from heapwise.figures.order import OrderPoint
from heapwise.figures.svg import Drawing, text_width
from heapwise.model import Row
from heapwise.wording.numbers import show


def parse(text: str) -> ElementTree.Element:
    """Well-formed, named for screen readers, and without a fixed colour for ink or paper."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "nan" not in text.lower().replace("nanmalloc", "")
    return root


def rows(quantity: str) -> list[Row]:
    return [r for r in analyse(Evidence(compare_run())).rows if r.quantity == quantity]


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_tradeoff_shows_every_subject_and_the_floor() -> None:
    points = tradeoff.points_of(rows("wall_time"), rows("peak_memory"), {"glibc-control"})
    root = parse(tradeoff.draw(points, 0.01, 0.005))
    assert {"glibc", "mimalloc", "jemalloc", "scudo"} <= set(texts(root))
    assert "glibc-control" not in texts(root)
    bands = [e for e in root.iter(f"{SVG}rect") if "band" in (e.get("fill") or "")]
    assert len(bands) == 2
    crosses = [e for e in root.iter(f"{SVG}line") if e.get("stroke-linecap") == "round"]
    assert len(crosses) == 2 * (len(points) - 1)


def test_tradeoff_puts_the_faster_to_the_left_and_the_smaller_below() -> None:
    points = tradeoff.points_of(rows("wall_time"), rows("peak_memory"), set())
    root = parse(tradeoff.draw(points))
    dots = {
        (e[0].text or "").partition(":")[0]: (float(e.get("cx", 0)), float(e.get("cy", 0)))
        for e in root.iter(f"{SVG}circle")
        if len(e)
    }
    assert dots["mimalloc"][0] < dots["glibc"][0] < dots["scudo"][0]
    assert dots["jemalloc"][1] > dots["glibc"][1] > dots["scudo"][1]


def test_strip_has_a_dot_for_every_sample() -> None:
    row = rows("wall_time")[0]
    axis = strip.shared_axis([row.values])
    assert axis is not None
    root = parse(strip.draw(row.values, row.median or 0, axis, "x", lambda v: show(v, "s")))
    expected = sorted(axis.place(value) for value in row.values)
    assert sorted(x for x, _ in dots(root)) == pytest.approx(expected, abs=0.06)
    assert len(expected) == 14
    assert strip.shared_axis([[], []]) is None


def test_forest_has_a_line_per_row_even_without_figures() -> None:
    found = rows("wall_time")
    found[2] = replace(found[2], ratio=None, ratio_low=None, ratio_high=None, note="crashed 3 of 3")
    root = parse(forest.draw(found, "time", 0.01))
    assert {row.subject for row in found} <= set(texts(root))
    assert "crashed 3 of 3" in texts(root)


def test_scaling_has_every_raw_point() -> None:
    found = [
        r
        for r in analyse(Evidence(pool_run(6, threads=[1, 4]))).rows
        if r.experiment == "pool/concurrent"
    ]
    root = parse(scaling.draw(found, "threads", "threads", lambda v: show(v, "ns/op")))
    medians = list(root.iter(f"{SVG}circle"))
    assert len(medians) == len(found)
    assert len(dots(root)) > 0.5 * sum(r.n + 1 for r in found)  # equal values are one dot


def test_latency_goes_from_the_median_to_the_maximum() -> None:
    base = rows("wall_time")[0]
    found = [
        replace(
            base, subject=s, median=float(m * n), cell=replace(base.cell, quantity=f"alloc_{q}")
        )
        for s, m in (("a", 20), ("b", 30))
        for n, q in enumerate(("p50", "p99", "p99_9", "max"), 1)
    ]
    words = texts(parse(latency.draw(found, "latency", lambda v: show(v, "ns"))))
    assert [w for w in words if w.startswith("p") or w == "max"] == ["p50", "p99", "p99.9", "max"]


def test_order_has_a_dot_for_every_process() -> None:
    moments = [OrderPoint(i, "ab"[i % 2], 1 + i / 100) for i in range(20)]
    root = parse(order.draw(moments, "order"))
    assert len(dots(root)) == 20
    assert {path.findtext(f"{SVG}title") for path in root.iter(f"{SVG}path")} == {"a", "b"}


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(-900, 900), st.floats(-900, 900)), min_size=1, max_size=40))
def test_dots_that_are_drawn_together_stand_where_they_belong(
    places: list[tuple[float, float]],
) -> None:
    drawing = Drawing(1, 1, "dots")
    drawing.dots(places, 1, "ink")
    found = dots(parse(drawing.render()))
    expected = sorted({(round(10 * x), round(10 * y)) for x, y in places})
    assert sorted((round(10 * x), round(10 * y)) for x, y in found) == expected


@pytest.mark.parametrize("value", ["<script>", "a & b", '"quoted"'])
def test_names_are_escaped(value: str) -> None:
    found = [replace(row, subject=value) for row in rows("wall_time")]
    drawn = forest.draw(found, value)
    assert "<script>" not in drawn
    assert value in texts(parse(drawn))


def test_colours_are_the_pages_own() -> None:
    drawing = Drawing(10, 10, "t")
    drawing.line(0, 0, 1, 1, "ink")
    assert 'stroke="var(--ink)"' in drawing.render()


def test_labels_of_points_on_one_spot_do_not_lie_on_each_other() -> None:
    frame = Rectangle(0, 0, 700, 400)
    points = [
        (350.0 + i, 200.0 + i, name)
        for i, name in enumerate(["jemalloc", "mimalloc", "tbbmalloc", "tcmalloc"])
    ]
    labels = place_labels(points, frame, [])
    boxes = []
    for label in labels:
        width = len(label.words) * 12 * 0.56
        left = label.x - {"start": 0, "middle": width / 2, "end": width}[label.anchor]
        boxes.append(Rectangle(left, label.y - 9, left + width, label.y + 2))
    assert all(a.overlap(b) == 0 for i, a in enumerate(boxes) for b in boxes[:i])


def test_spread_keeps_order_and_gaps() -> None:
    moved = spread([100.0, 101.0, 99.0, 300.0], 15, 0, 310)
    ordered = sorted(moved)
    assert all(b - a >= 15 - 1e-9 for a, b in itertools.pairwise(ordered))
    assert sorted(range(4), key=lambda i: moved[i]) == [2, 0, 1, 3]


def test_axes() -> None:
    axis = logarithmic([1, 100], 0, 100, margin=0)
    assert axis.place(10) == pytest.approx(50)
    assert linear([5, 5], 0, 10).place(5) == pytest.approx(5)
    assert even_ticks(0.93, 1.12, 4) == [0.95, 1.0, 1.05, 1.1]
    assert 1.0 in ratio_ticks(logarithmic([0.9, 1.2], 0, 1))
    assert [ratio_label(0.9, False), ratio_label(1.0, True), ratio_label(2.0, True)] == [
        "−10 %",
        "same",
        "2x",
    ]


def test_sizes_are_bars_in_proportion_and_none_is_lost() -> None:
    counts = [0, 0, 0, 300, 600, 0, 100, 1]
    root = parse(sizes.draw(counts, "sizes"))
    bars = {(e[0].text or "").partition(":")[0]: e for e in root.iter(f"{SVG}rect") if len(e)}
    heights = {name: float(e.get("height", 0)) for name, e in bars.items()}
    assert list(heights) == ["5 to 8 B", "9 to 16 B", "17 to 32 B", "33 to 64 B", "65 to 128 B"]
    assert heights["9 to 16 B"] == pytest.approx(2 * heights["5 to 8 B"], rel=0.01)
    assert heights["17 to 32 B"] == 0
    assert heights["65 to 128 B"] >= 1
    assert "8 B" in texts(root)


def test_a_single_size_can_be_drawn() -> None:
    assert "16 B" in texts(parse(sizes.draw([0, 0, 0, 0, 5], "sizes")))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("50.0 ns/op", "50 ns/op"),
        ("0.500 ns/op", "0.5 ns/op"),
        ("1.00 s", "1 s"),
        ("100 ns/op", "100 ns/op"),
        ("0.250", "0.25"),
        ("1,000 ns", "1,000 ns"),
    ],
)
def test_ticks_are_written_without_idle_zeros(words: str, expected: str) -> None:
    assert curves.bare(words) == expected


@pytest.mark.parametrize(
    "span", [(0.6, 1.7), (0.9, 1.95), (0.99, 1.02), (0.05, 3.0), (0.3, 2.0), (0.001, 900.0)]
)
def test_every_span_of_ratios_has_some_ticks_and_not_too_many(span: tuple[float, float]) -> None:
    ticks = ratio_ticks(logarithmic(span, 0, 100), 6)
    assert 3 <= len(ticks) <= 13
    assert any(abs(t - 1) < 1e-9 for t in ticks)


def test_many_slots_leave_out_labels_rather_than_lay_them_over_each_other() -> None:
    names = [str(4096 << power) for power in range(22)]
    line = curves.Curve("one", [curves.Knot(place, 1.0 + place) for place in range(22)])
    root = parse(curves.draw([line], names, "sizes", "size", str, "scaling"))
    shown = [e for e in root.iter(f"{SVG}text") if e.text in names]
    ends = [(float(e.get("x", 0)), text_width(e.text or "", 12) / 2) for e in shown]
    assert 5 < len(shown) < 22
    assert all(
        x + half < next_x - next_half for (x, half), (next_x, next_half) in itertools.pairwise(ends)
    )
