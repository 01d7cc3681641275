"""The page of a history in a real browser: its figures can be zoomed, by button and by key."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import Chromium, find_chromium
from histories import fill

from heapwise.analysis.across_runs.history import series_of
from heapwise.report.history import history_page
from heapwise.store import read_points

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine: apt install chromium"
)

WIDTH = "document.querySelector('.zoom svg').getBoundingClientRect().width"
BOX = "document.querySelector('.zoom')"


def test_a_figure_grows_around_its_middle_and_shrinks_to_its_box(tmp_path: Path) -> None:
    fill(tmp_path / "store", [2.0, 2.01, 1.99, 2.0] * 6)
    path = tmp_path / "history.html"
    path.write_text(history_page(series_of(read_points(tmp_path / "store"))), encoding="utf-8")
    assert CHROMIUM is not None
    with Chromium(CHROMIUM) as browser:
        browser.open(path)
        width = browser.evaluate(WIDTH)
        for factor in ("2", "2"):
            browser.evaluate(f"document.querySelector('button[data-zoom=\"{factor}\"]').click()")
        assert browser.evaluate(WIDTH) == pytest.approx(4 * width, rel=0.01)
        assert browser.evaluate(f"{BOX}.scrollWidth > {BOX}.clientWidth")
        middle = browser.evaluate(f"({BOX}.scrollLeft + {BOX}.clientWidth / 2) / {BOX}.scrollWidth")
        assert middle == pytest.approx(0.5, abs=0.01)
        browser.evaluate(f"{BOX}.focus()")
        browser.press("+", 187, "+")
        assert browser.evaluate(WIDTH) == pytest.approx(8 * width, rel=0.01)
        for _ in range(5):
            browser.press("-", 189, "-")
        assert browser.evaluate(WIDTH) == pytest.approx(width, rel=0.01)
        assert browser.requests() == [path.as_uri()]
        assert browser.complaints() == []
