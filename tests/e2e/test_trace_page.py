"""The page of a trace in a real browser."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from chromium import Chromium, find_chromium

Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]

BROWSER = find_chromium()
DHAT_VIEWER = Path("/usr/libexec/valgrind/dh_view.html")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_flame_graph_zooms_and_searches(heapwise: Heapwise, tmp_path: Path) -> None:
    assert BROWSER is not None
    trace, page = tmp_path / "perl.hwt", tmp_path / "perl.html"
    done = heapwise(
        "record", "-o", str(trace), "--", "perl", "-e", "my @a = map { $_ x 9 } 1..2000"
    )
    assert done.returncode == 0, done.stderr
    done = heapwise("trace", str(trace), "--html", str(page), "--quiet")
    assert done.returncode == 0, done.stderr
    boxes = "[...document.querySelectorAll('#flame button')]"
    with Chromium(BROWSER) as browser:
        browser.open(page)
        assert browser.evaluate(f"{boxes}.length") > 1
        assert "100.0 %" in browser.evaluate("document.getElementById('told').textContent")
        name = browser.evaluate(f"{boxes}.find(b => b.style.top === '44px').title")
        browser.evaluate(f"{boxes}.find(b => b.style.top === '44px').click()")
        assert browser.evaluate("document.getElementById('told').textContent") == name
        assert browser.evaluate(f"{boxes}.filter(b => b.classList.contains('above')).length") == 2
        browser.evaluate("document.getElementById('reset').click()")
        browser.evaluate(
            "(s => { s.value = 'perl'; s.dispatchEvent(new Event('input')); })"
            "(document.getElementById('search'))"
        )
        assert "% of the bytes" in browser.evaluate("document.getElementById('found').textContent")
        browser.evaluate("document.querySelector('[data-measure=c]').click()")
        assert "blocks" in browser.evaluate("document.getElementById('told').textContent")
        assert browser.complaints() == []
        assert all(url.startswith(("file:", "data:", "about:")) for url in browser.requests())


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_flame_graph_is_printed_and_its_buttons_are_not(
    heapwise: Heapwise, tmp_path: Path
) -> None:
    assert BROWSER is not None
    trace, page = tmp_path / "perl.hwt", tmp_path / "perl.html"
    assert heapwise("record", "-o", str(trace), "--", "perl", "-e", "1").returncode == 0
    done = heapwise("trace", str(trace), "--html", str(page), "--quiet")
    assert done.returncode == 0, done.stderr

    def shown(selector: str, value: str) -> str:
        """Each value that elements of the selector have, once."""
        elements = f"[...document.querySelectorAll('{selector}')]"
        values = f"{elements}.map(e => getComputedStyle(e).{value})"
        return str(browser.evaluate(f"[...new Set({values})].join()"))

    with Chromium(BROWSER) as browser:
        browser.open(page)
        browser.call("Emulation.setEmulatedMedia", media="print")
        assert shown("#flame button", "display") == "block"
        assert shown("#flame button", "printColorAdjust") == "exact"
        assert shown(".buttons button", "display") == "none"
        assert shown("thead button", "display") in ("", "inline")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_flame_graph_of_two_traces_marks_what_grew(heapwise: Heapwise, tmp_path: Path) -> None:
    assert BROWSER is not None
    page, traces = tmp_path / "grown.html", []
    for number in (2000, 9000):
        traces.append(str(tmp_path / f"{number}.hwt"))
        words = ["perl", "-e", f"my @a = map {{ $_ x 9 }} 1..{number}"]
        done = heapwise("record", "-o", traces[-1], "--", *words)
        assert done.returncode == 0, done.stderr
    done = heapwise("trace", *traces, "--html", str(page), "-q")
    assert done.returncode == 0, done.stderr
    boxes = "[...document.querySelectorAll('#flame button')]"
    with Chromium(BROWSER) as browser:
        browser.open(page)
        assert browser.evaluate("document.querySelector('h1').textContent").startswith("+")
        assert browser.evaluate(f"{boxes}[0].className") == "more"
        assert " bytes after" in browser.evaluate(f"{boxes}[0].title")
        browser.evaluate("document.querySelector('[data-measure=g]').click()")
        assert " bytes more" in browser.evaluate("document.getElementById('told').textContent")
        assert browser.complaints() == []


@pytest.mark.skipif(BROWSER is None or not DHAT_VIEWER.exists(), reason="no Chromium or no DHAT")
def test_the_viewer_of_dhat_loads_an_export(heapwise: Heapwise, tmp_path: Path) -> None:
    assert BROWSER is not None
    trace, written = tmp_path / "perl.hwt", tmp_path / "perl.dhat.json"
    assert heapwise("record", "-o", str(trace), "--", "perl", "-e", "1").returncode == 0
    assert heapwise("trace", str(trace), "--export", str(written), "--quiet").returncode == 0
    document = json.loads(written.read_text())
    with Chromium(BROWSER) as browser:
        browser.open(DHAT_VIEWER)
        browser.evaluate(f"gData = {json.dumps(document)}; buildTree(); displayTree([])")
        assert browser.evaluate("Number(gRoot._totalBytes)") == sum(
            point["tb"] for point in document["pps"]
        )


def test_an_unknown_form_of_export_is_refused(heapwise: Heapwise, tmp_path: Path) -> None:
    done = heapwise("trace", "none.hwt", "--export", str(tmp_path / "x.csv"))
    assert done.returncode == 2
    assert ".speedscope.json" in done.stderr
