"""A run of the heap family in a real browser: what a reader would stumble over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium, find_chromium
from synthetic_heap import MIX, SPEED, Heap, experiment_of, heap_run

from heapwise.evidence import Evidence
from heapwise.model import Quantity
from heapwise.report import View, build_page

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine: apt install chromium"
)

CUT = """(() => Array.from(document.querySelectorAll('svg.figure')).flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  return Array.from(svg.querySelectorAll('text')).filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 ||
           box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  }).map(text => text.textContent); }))()"""
"""Words of figures that reach out of their picture, in the font that is really used."""

COVERED = """(() => Array.from(document.querySelectorAll('svg.figure')).flatMap(svg => {
  const boxes = Array.from(svg.querySelectorAll('text')).map(
    text => [text.getBoundingClientRect(), text.textContent]);
  return boxes.flatMap(([a, first], i) => boxes.slice(i + 1).filter(([b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
  ).map(([b, second]) => first + ' / ' + second)); }))()"""
"""Pairs of words that lie on each other."""

CONTRAST = """(() => {
  const light = rgb => { const parts = rgb.map(v => v / 255)
      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2]; };
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const rgb = colour => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data).slice(0, 3); };
  return Math.min(...Array.from(document.querySelectorAll('.matrix td[class^=shade]')).map(e => {
    const style = getComputedStyle(e);
    const [a, b] = [light(rgb(style.color)), light(rgb(style.backgroundColor))]
      .sort((x, y) => y - x);
    return (a + .05) / (b + .05); })); })()"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten subjects, several experiments, one subject without time, names of every length."""
    others = {
        "malloc@mimalloc3": 1.62,
        "malloc@snmalloc": 1.61,
        "malloc@rpmalloc": 1.4,
        "malloc@tcmalloc-google": 1.63,
        "malloc@tbbmalloc-current": 0.8,
    }
    names = [*SPEED, *others]
    script = Heap(
        speed={**SPEED, **others},
        threads=(1, 2, 16),
        rounds=6,
        noise=0.02,
        lost=lambda e, s, p: s == "malloc@tbbmalloc-current" and p.get("threads") == 16,
        extra=[
            experiment_of(
                "heap/pair",
                [Quantity("alloc_free", "ns/op", "lower"), MIX[-1]],
                [*names, "heap_inlined"],
            ),
            experiment_of(
                "heap/realloc_growth",
                [Quantity("growth", "ns/op", "lower"), Quantity("large_growth", "ns/op", "lower")],
                names,
            ),
        ],
    )
    path = tmp_path_factory.mktemp("heap") / "report.html"
    path.write_text(build_page([View(Evidence(heap_run(script)))]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    assert CHROMIUM is not None
    with Chromium(CHROMIUM) as found:
        yield found


@pytest.fixture
def page(browser: Chromium, report: Path) -> Chromium:
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.events.clear()
    browser.open(report)
    return browser


def opened(page: Chromium) -> Chromium:
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    return page


def test_no_label_is_cut_and_none_lies_on_another(page: Chromium) -> None:
    opened(page)
    assert page.evaluate("document.querySelectorAll('svg.figure').length") > 15
    assert page.evaluate(CUT) == []
    assert page.evaluate(COVERED) == []


def test_the_tests_of_labels_would_see_bad_ones(page: Chromium) -> None:
    page.evaluate("""document.querySelectorAll('svg.figure text').forEach(text => {
      text.setAttribute('x', 3); text.setAttribute('text-anchor', 'end'); })""")
    assert page.evaluate(CUT)
    assert page.evaluate(COVERED)


def test_the_first_table_fits_a_usual_screen_and_sorts(page: Chromium) -> None:
    fits = """(() => { const box = document.querySelector('.matrix').getBoundingClientRect();
      return [box.right <= innerWidth, document.documentElement.scrollWidth <= innerWidth]; })()"""
    assert page.evaluate(fits) == [True, True]
    column = """Array.from(document.querySelector('.matrix').tBodies[0].rows)
      .map(row => row.cells[5].dataset.value).filter(v => v)"""
    page.evaluate("document.querySelector('.matrix').querySelectorAll('thead button')[5].click()")
    found = [float(v) for v in page.evaluate(column)]
    assert found == sorted(found)
    assert len(found) > 5


def test_figures_on_shades_can_be_read_in_both_themes(page: Chromium) -> None:
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert page.evaluate(CONTRAST) >= 4.5, theme


def test_nothing_sticks_out_on_a_narrow_screen(page: Chromium) -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=800,
        deviceScaleFactor=1,
        mobile=True,
    )
    assert opened(page).evaluate("document.documentElement.scrollWidth") <= 391


def test_it_is_quiet(page: Chromium) -> None:
    found: Any = page.complaints()
    assert found == []
