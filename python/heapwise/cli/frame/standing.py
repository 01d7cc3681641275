"""A run of many cells in a few lines: how many times behind the best each subject is."""

from __future__ import annotations

from collections.abc import Iterable

from heapwise.analysis.headlines import label
from heapwise.analysis.rows import Bench
from heapwise.analysis.standing import Standing, standings
from heapwise.analysis.units import significant
from heapwise.cli.frame.table import align
from heapwise.store import StoredRun

TITLES = {"speed": "Speed", "latency": "Latency", "memory": "Memory", "other": "Other measures"}

UNSURE = "?"


def standing_tables(stored: StoredRun) -> str:
    """A table for each aspect; a row for each cell and quantity, a column for each subject."""
    bench = Bench(stored)
    found = standings(bench)
    parts = []
    for aspect, title in TITLES.items():
        rows = [s for s in found if s.aspect == aspect]
        if rows:
            parts.append(_table(bench, title, rows))
    return "\n\n".join(parts)


def _table(bench: Bench, title: str, rows: list[Standing]) -> str:
    names = [name for name in bench.subjects() if any(name in s.places for s in rows)]
    head = [f"{title}: times behind the best ({UNSURE}: cannot tell)", *_short(names)]
    return align([head, *([label(bench, s.cell), *(_cell(s, name) for name in names)]
                          for s in rows)])


def _short(names: Iterable[str]) -> list[str]:
    return [name.removeprefix("malloc@") for name in names]


def _cell(standing: Standing, name: str) -> str:
    """``best`` or a factor; a mark where the pairs cannot tell it from the best."""
    place = standing.places.get(name)
    if place is None or place.behind is None:
        return "-"
    if name == standing.best:
        return "best"
    return significant(max(1.0, place.behind)) + UNSURE * place.level
