"""The table of the README has the figures of the stored result that it links to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()
PAGE = (ROOT / "docs" / "results" / "debian-12-amd-epyc-2-cores" / "sqlite3.md").read_text()


def table(first: str) -> dict[str, list[str]]:
    """Subject -> the cells behind it, of the table of the README that begins so."""
    lines = re.split(rf"\n +{first} +", README)[1].split("\n\n")[0].splitlines()[1:]
    return {cells[0]: cells[1:] for cells in (re.split(r" {2,}", line) for line in lines)}


def stored(title: str) -> dict[str, list[str]]:
    part = PAGE.split(f"## compare: {title}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([\w-]+) \| (.*) \|$", part, re.MULTILINE)
    return {name: re.split(r" \| ", rest) for name, rest in rows}


def test_the_times_are_those_of_the_page() -> None:
    shown, kept = table("n"), stored("time")
    assert len(shown) == 7
    for subject, (n, time, ends, *_) in shown.items():
        found = kept[subject]
        assert (n, time) == (found[0], f"{found[2]} ms"), subject
        assert ends == f"{found[1]} to {found[4]}", subject


@pytest.mark.parametrize("first", ["n", "peak memory"])
def test_the_ratios_are_those_of_the_page(first: str) -> None:
    kept = stored("time" if first == "n" else first)
    for subject, cells in table(first).items():
        words = "-" if kept[subject][7] == "baseline" else kept[subject][7]
        assert words in cells, subject
        assert words == "-" or kept[subject][8] in cells, subject


def test_the_memory_is_that_of_the_page() -> None:
    for subject, (peak, ends, *_) in table("peak memory").items():
        found = stored("peak memory")[subject]
        assert (peak, ends) == (f"{found[2]} MiB", f"{found[1]} to {found[4]}"), subject
