"""The report in a real browser: opens from disk, loads nothing from the network, and works."""

from __future__ import annotations

import json
import math
import random
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from chromium import Chromium, find_chromium
from synthetic import Script, compare_run
from synthetic_beside import with_rounds_beside

from heapwise.evidence import Evidence
from heapwise.model import Process, Run, Sample
from heapwise.report import View, build_page
from heapwise.report.formats import find_formats
from heapwise.report.formats.csv_rows import number_text
from heapwise.store import StoredRun, read_run, run_ids

DATA = Path(__file__).resolve().parents[1] / "data"

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine: apt install chromium"
)

NOWHERE = "http:" + "//127.0.0.1:9/x"
"""This machine itself, at a port where nobody listens."""

COLUMN = """(index => Array.from(document.querySelector('table.sortable').tBodies[0].rows)
  .map(row => row.cells[index].dataset.value))"""
HEADER = "document.querySelectorAll('table.sortable thead tr:last-child button')"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frozen runs in one file, in a folder whose name needs quoting."""
    path = tmp_path_factory.mktemp("a folder") / "report #1.html"
    views = [View(Evidence(read_run(DATA, run))) for run in run_ids(DATA)]
    path.write_text(build_page(views), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    assert CHROMIUM is not None
    with Chromium(CHROMIUM) as found:
        yield found


@pytest.fixture
def page(browser: Chromium, report: Path) -> Chromium:
    """The report freshly opened, nothing remembered of the test before."""
    browser.call("Emulation.setEmulatedMedia", features=[])
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.open(report)
    browser.evaluate("localStorage.clear()")
    browser.events.clear()
    browser.open(report)
    return browser


def test_opens_from_disk_without_complaint_or_request(page: Chromium, report: Path) -> None:
    assert page.evaluate("document.querySelectorAll('article.run').length") == 2
    assert page.evaluate("document.querySelector('h1.answer').offsetHeight") > 0
    assert (
        page.evaluate(
            "Array.from(document.querySelectorAll('svg.figure'))"
            ".filter(s => s.getBoundingClientRect().width > 300).length"
        )
        >= 2
    )
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    asked = [
        url
        for url in page.requests()
        if url not in ("about:blank", report.as_uri()) and not url.startswith("data:")
    ]
    assert asked == []
    assert page.complaints() == []


def test_the_test_would_see_an_error_and_a_request(page: Chromium, report: Path) -> None:
    """A page that does both must not pass as one that does neither."""
    broken = report.with_name("broken.html")
    text = report.read_text(encoding="utf-8")
    policy = text[text.index('<meta http-equiv="Content-Security-Policy"') :].split("\n")[0]
    broken.write_text(
        text.replace(policy, "").replace(
            "</body>", "<script>new Image().src='" + NOWHERE + "'; nothing();</script></body>"
        ),
        encoding="utf-8",
    )
    page.open(broken)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (page.requests() and page.complaints()):
        page.evaluate("new Promise(done => setTimeout(done, 50))")
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    assert any("127.0.0.1" in url for url in page.requests())
    assert any("nothing" in words for words in page.complaints())


def test_the_policy_of_the_page_forbids_the_network(page: Chromium) -> None:
    page.evaluate(f"fetch('{NOWHERE}').then(() => 'sent', () => 'refused')")
    assert any("Content Security Policy" in words for words in page.complaints())


def test_table_sorts_both_ways_by_number(page: Chromium) -> None:
    page.evaluate(f"{HEADER}[1].click()")
    rising = [float(v) for v in page.evaluate(f"{COLUMN}(1)")]
    assert rising == sorted(rising)
    assert page.evaluate("document.querySelector('th[aria-sort]').ariaSort") == "ascending"
    page.evaluate(f"{HEADER}[1].click()")
    assert [float(v) for v in page.evaluate(f"{COLUMN}(1)")] == sorted(rising, reverse=True)
    assert page.evaluate("document.querySelector('th[aria-sort]').ariaSort") == "descending"


def test_table_sorts_by_name_from_the_keyboard(page: Chromium) -> None:
    page.evaluate(f"{HEADER}[1].click(); {HEADER}[0].focus()")
    page.press("Enter", 13, "\r")
    names = page.evaluate(f"{COLUMN}(0)")
    assert names == sorted(names)
    assert len(names) >= 4


def test_theme_switches_and_is_remembered(page: Chromium, report: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.evaluate("document.getElementById('theme').click()")
    dark = page.evaluate(paper)
    assert light != dark
    assert page.evaluate("document.getElementById('theme').getAttribute('aria-pressed')") == "true"
    page.open(report)
    assert page.evaluate(paper) == dark
    page.evaluate("document.getElementById('theme').click()")
    assert page.evaluate(paper) == light


def test_theme_follows_the_system_until_one_is_chosen(page: Chromium, report: Path) -> None:
    page.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    page.open(report)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_ink_can_be_read_in_both_themes(page: Chromium) -> None:
    contrast = """(() => {
      const light = colour => { const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
          .map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2]; };
      const paper = light(getComputedStyle(document.body).backgroundColor);
      const worst = [];
      document.querySelectorAll('h1,h2,td,th,small,p,figcaption,summary,svg text').forEach(e => {
        if (!e.getClientRects().length || e.closest('.control')) return;
        const style = getComputedStyle(e);
        if (style.backgroundColor !== 'rgba(0, 0, 0, 0)') return;
        const ink = light(e.namespaceURI.endsWith('svg') ? style.fill : style.color);
        const [a, b] = [ink, paper].sort((x, y) => y - x);
        worst.push([(a + .05) / (b + .05), e.textContent.trim().slice(0, 40)]);
      });
      return worst.sort((x, y) => x[0] - y[0])[0]; })()"""
    for _ in range(2):
        ratio, words = page.evaluate(contrast)
        assert ratio >= 4.5, words
        page.evaluate("document.getElementById('theme').click()")


def hostile() -> StoredRun:
    """Names that a spreadsheet would compute, that need quotes, and that scripts stumble over."""
    names = {
        "mimalloc": '=HYPERLINK("http:evil","x")',
        "scudo": 'a,b\n"c"</script>\r',
        "jemalloc": "__proto__",
    }
    parameters = {"toString": None, "__proto__": 1.0, "x": True, "share": 1e-7, "=1": "-2"}
    stored = compare_run()
    records = [
        [replace(record, parameters=parameters) for record in kind]
        for kind in (stored.processes, stored.samples)
    ]
    text = msgspec.json.encode([stored.run, *records]).decode()
    for name, other in names.items():
        text = text.replace(f'"{name}"', json.dumps(other))
    run, processes, samples = msgspec.json.decode(
        text, type=tuple[Run, list[Process], list[Sample]]
    )
    return replace(stored, run=run, processes=processes, samples=samples)


def downloads(page: Chromium, folder: Path, view: View) -> None:
    """Each button writes what `heapwise export` writes."""
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    formats = find_formats()
    for form in (formats[name] for name in ("csv", "json", "markdown")):
        expected = form.write(view).encode()
        target = folder / f"heapwise-{view.run.id}.{form.SUFFIX}"
        page.evaluate(f"document.querySelector('[data-file=\"{target.name}\"]').click()")
        deadline = time.monotonic() + 30
        while not (target.exists() and target.stat().st_size >= len(expected)) and (
            time.monotonic() < deadline
        ):
            page.evaluate("new Promise(done => setTimeout(done, 50))")
        assert target.read_bytes() == expected


def test_buttons_write_what_export_writes(page: Chromium, tmp_path: Path) -> None:
    for run in run_ids(DATA):
        downloads(page, tmp_path, View(Evidence(read_run(DATA, run))))
    assert page.complaints() == []


def test_hostile_names_are_written_as_export_writes_them(page: Chromium, tmp_path: Path) -> None:
    view = View(Evidence(hostile()))
    path = tmp_path / "hostile.html"
    path.write_text(build_page([view]), encoding="utf-8")
    page.open(path)
    downloads(page, tmp_path, view)


def test_the_browser_writes_numbers_as_the_csv_does(page: Chromium) -> None:
    chance = random.Random(3)
    numbers = [struct.unpack("d", chance.randbytes(8))[0] for _ in range(2000)]
    numbers += [
        chance.choice([-1, 1]) * chance.uniform(1, 10) * 10.0**place
        for place in range(-12, 26)
        for _ in range(20)
    ]
    numbers += [10.0**place for place in range(-12, 26)] + [0.0, -0.0]
    finite = [number for number in numbers if math.isfinite(number)]
    assert page.evaluate(f"{json.dumps(finite)}.map(String)") == [number_text(n) for n in finite]


def test_without_script_the_page_can_be_read_and_names_the_command(
    page: Chromium, report: Path
) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open(report)
        shown = page.evaluate("""['noscript p', 'h1.answer', 'table.figures td', 'svg.strip path']
          .map(name => document.querySelector(name).getBoundingClientRect().height > 0)""")
        hint = page.evaluate("document.querySelector('noscript').textContent")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)
    assert shown == [True] * 4
    assert f"heapwise export {run_ids(DATA)[0]} --format csv" in hint


def test_data_that_cannot_be_unpacked_is_reported(page: Chromium) -> None:
    page.evaluate("""document.querySelectorAll('script[type="application/zlib"]').forEach(
      packed => { packed.textContent = 'AAAA'; });
      document.querySelector('[data-file]').click()""")
    page.until("document.getElementById('status').textContent.startsWith('The data cannot')")


def test_the_command_can_be_copied(page: Chromium) -> None:
    page.evaluate("document.querySelector('[data-copy]').click()")
    page.until(
        "['Copied', 'Selected: copy it with your keyboard'].includes("
        "document.getElementById('status').textContent)"
    )


def test_nothing_sticks_out_on_a_narrow_screen(page: Chromium) -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=800,
        deviceScaleFactor=1,
        mobile=True,
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 391


def test_a_table_of_three_quantities_fits_a_usual_screen(browser: Chromium, tmp_path: Path) -> None:
    """One round of separate processes, so each row has a note, and rounds side by side."""
    names = ("glibc", "glibc-control", "tbbmalloc-current", "jemalloc-current")
    script = Script(rounds=1, time=dict.fromkeys(names, 1.0), memory=dict.fromkeys(names, 1.0))
    stored = with_rounds_beside(compare_run(script), dict.fromkeys(names[1:], 1.1))
    path = tmp_path / "three.html"
    path.write_text(build_page([View(Evidence(stored))]), encoding="utf-8")
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=1280,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.open(path)
    table = "document.querySelector('table.sortable')"
    assert browser.evaluate(f"{table}.tHead.rows[0].cells.length") == 10
    box = f"{table}.closest('.scroll')"
    assert browser.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")


def test_long_figures_of_checks_do_not_stick_out_on_a_narrow_screen(page: Chromium) -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=800,
        deviceScaleFactor=1,
        mobile=True,
    )
    page.evaluate("document.querySelectorAll('.checks details').forEach(part => part.open = true)")
    assert page.evaluate("document.querySelectorAll('.checks details[open]').length") > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 391


def test_a_dark_page_is_printed_with_the_colours_of_a_light_one(page: Chromium) -> None:
    names = ["paper", "line", "accent", "worse", "warn", "band", "series-0"]
    script = f"""{json.dumps(names)}.map(name =>
      getComputedStyle(document.documentElement).getPropertyValue(`--${{name}}`))
      .concat(getComputedStyle(document.documentElement).colorScheme)"""
    seen = []
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.call("Emulation.setEmulatedMedia", media="print")
        seen.append(page.evaluate(script))
        page.call("Emulation.setEmulatedMedia", media="screen")
    assert page.evaluate(script) != seen[0]
    assert seen[0] == seen[1]


def test_on_paper_everything_is_open(page: Chromium) -> None:
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (
        page.evaluate("Array.from(document.querySelectorAll('details')).every(part => part.open)")
        is True
    )
