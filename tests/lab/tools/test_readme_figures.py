"""The table of the README has the figures of the stored result that it links to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()
PAGE = (ROOT / "docs" / "results" / "debian-12-amd-epyc-2-cores" / "sqlite3.md").read_text()


def table(first: str) -> dict[str, list[str]]:
    """Subject -> the cells behind it, of the table of the README that begins so."""
    lines = re.split(rf"\n +{first} +", README)[1].split("\n\n")[0].splitlines()[1:]
    return {cells[0]: cells[1:] for cells in (re.split(r" {2,}", line) for line in lines)}


@dataclass(frozen=True)
class Stored:
    """A row of the page. words, ends: against the baseline, which has "-" and ""."""

    n: str
    median: str
    least: str
    largest: str
    words: str
    ends: str


def stored(title: str) -> dict[str, Stored]:
    part = PAGE.split(f"## compare: {title}\n")[1].split("\n## ")[0]
    found = {}
    for name, rest in re.findall(r"^\| ([\w-]+) \| (\d.*) \|$", part, re.MULTILINE):
        n, median, least, _, largest, _, against = re.split(r" \| ", rest)
        words, _, ends = against.rstrip(")").partition(" (")
        words = "-" if words == "baseline" else words
        found[name] = Stored(n, median.split(" (")[0], least, largest, words, ends)
    return found


def test_the_times_are_those_of_the_page() -> None:
    shown, kept = table("n"), stored("time")
    assert len(shown) == 7
    for subject, (n, time, ends, *_) in shown.items():
        found = kept[subject]
        assert (n, time) == (found.n, f"{found.median} ms"), subject
        assert ends == f"{found.least} to {found.largest}", subject


@pytest.mark.parametrize(
    ("first", "title"),
    [("n", "time"), ("peak memory", "peak memory"), ("pairs", "CPU time, side by side")],
)
def test_the_ratios_are_those_of_the_page(first: str, title: str) -> None:
    kept, shown = stored(title), table(first)
    assert len(shown) == 7
    for subject, cells in shown.items():
        assert kept[subject].words in cells, subject
        assert not kept[subject].ends or kept[subject].ends in cells, subject


def test_the_memory_is_that_of_the_page() -> None:
    for subject, (peak, ends, *_) in table("peak memory").items():
        found = stored("peak memory")[subject]
        assert (peak, ends) == (f"{found.median} MiB", f"{found.least} to {found.largest}"), subject


def test_the_pairs_are_those_of_the_page() -> None:
    kept = stored("CPU time, side by side")
    shown = table("pairs")
    assert shown.pop("glibc") == ["-"]
    assert {subject: cells[0] for subject, cells in shown.items()} == {
        subject: kept[subject].n for subject in shown
    }
