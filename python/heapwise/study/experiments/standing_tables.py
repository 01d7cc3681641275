"""A run of many cells in a few lines: how many times behind the best each subject is."""

from __future__ import annotations

from heapwise.analysis.summary.headlines import label
from heapwise.analysis.verdicts.standing import Standing, families, standings
from heapwise.document import Passage, Sentence, TextTable, plain_table
from heapwise.evidence import Evidence
from heapwise.model import short_name
from heapwise.wording.lists import listed
from heapwise.wording.numbers import significant

TITLES = {"speed": "Speed", "latency": "Latency", "memory": "Memory", "other": "Other measures"}

UNSURE = "?"


HEAD = f"times behind the best ({UNSURE}: cannot tell)"


def standing_tables(evidence: Evidence) -> list[Passage]:
    """A table for each aspect; a row for each cell and quantity, a column for each subject.

    Experiments that have few subjects in common are not put into one: most of it would be empty.
    """
    all_families = families(standings(evidence))
    parts: list[Passage] = []
    if len(all_families) != 1:
        parts.append(Sentence(HEAD[0].upper() + HEAD[1:]))
    for family in all_families:
        ids = _ids(family)
        for aspect, title in TITLES.items():
            rows = [s for s in family if s.aspect == aspect]
            if rows and len(all_families) == 1:
                parts.append(_table(evidence, f"{title}: {HEAD}", rows))
            elif rows:
                parts.append(_table(evidence, f"{ids}: {title.lower()}", rows))
    return parts


def _ids(family: list[Standing]) -> str:
    ids = list(dict.fromkeys(s.cell.experiment for s in family))
    return ids[0] if len(ids) == 1 else listed(each.rpartition("/")[2] for each in ids)


def _table(evidence: Evidence, title: str, rows: list[Standing]) -> TextTable:
    names = [name for name in evidence.subjects if any(name in s.places for s in rows)]
    return plain_table(
        [
            [title, *map(short_name, names)],
            *([label(evidence, s.cell), *(_cell(s, name) for name in names)] for s in rows),
        ]
    )


def _cell(standing: Standing, name: str) -> str:
    """``best`` or a factor; a mark where the pairs cannot tell it from the best."""
    place = standing.places.get(name)
    if place is None or place.behind is None:
        return "-"
    if name == standing.best:
        return "best"
    return significant(place.behind) + UNSURE * (place.level or place.low is None)
