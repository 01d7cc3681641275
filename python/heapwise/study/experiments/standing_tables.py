"""A run of many cells in a few lines: how many times behind the best each subject is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from heapwise.analysis.summary.headlines import label
from heapwise.analysis.verdicts.gain import PEAK
from heapwise.analysis.verdicts.rows import outcome_of
from heapwise.analysis.verdicts.standing import Rank, Standing, families, standings
from heapwise.document import Passage, Sentence, TableCell, TextTable, table_cell
from heapwise.evidence import Evidence
from heapwise.model import short_name
from heapwise.wording.lists import listed
from heapwise.wording.names import quantity_name, setting, spaced
from heapwise.wording.numbers import Scale, ends, scale_for, significant

TITLES = {
    "speed": "Speed",
    "memory": "Memory",
    "latency": "Latency",
    "more": "Other measures of memory, and all else",
}
OPEN = ("speed", "memory")
"""The others can be opened: rows that answer the first questions stand first."""

STEPS = (1.05, 1.15, 1.3, 1.6, 2.5)
"""The shades, from the best to the last: each is for factors below its number."""

UNSURE = "?"

HEAD = f"times behind the best ({UNSURE}: cannot tell)"

LEGEND = (
    "A figure says how many times worse a subject is than the best of its row; 1.00 is the best. "
    "Bold marks the best, and those that this run cannot tell from it. A question mark means that "
    "there were too few rounds for an interval, and an empty field that nothing was measured. The "
    "last line of a table is the geometric mean of the subjects that were measured in all of its "
    "rows. The subjects are in the order of their speed. Point at a figure to see the value and "
    "its 95 % interval."
)


def standing_tables(evidence: Evidence) -> list[Passage]:
    """A table for each aspect; a row for each cell and quantity, a column for each subject.

    Experiments that have few subjects in common are not put into one: most of it would be empty.
    """
    all_families = families(standings(evidence))
    alone = len(all_families) == 1
    parts: list[Passage] = [] if alone else [Sentence(HEAD[0].upper() + HEAD[1:])]
    for family in all_families:
        names = _order(evidence, family)
        for part, title in TITLES.items():
            rows = [standing for standing in family if _part(evidence, standing) == part]
            if rows:
                name = f"{title}: {HEAD}" if alone else f"{_ids(family)}: {title.lower()}"
                table = _table(evidence, rows, names, name)
                folded = f"{title if alone else name}, {len(rows)} rows"
                parts.append(replace(table, folded=folded, is_open=part in OPEN))
    return parts


def _part(evidence: Evidence, standing: Standing) -> str:
    """For memory the peak, and what an experiment on memory asks for first."""
    if standing.aspect in ("speed", "latency"):
        return standing.aspect
    first = evidence.experiments[standing.cell.experiment].quantities[0].name
    leads = standing.quantity.name in (PEAK, first)
    return "memory" if standing.aspect == "memory" and leads else "more"


def _ids(family: list[Standing]) -> str:
    ids = list(dict.fromkeys(s.cell.experiment for s in family))
    return ids[0] if len(ids) == 1 else listed(each.rpartition("/")[2] for each in ids)


def _order(evidence: Evidence, found: list[Standing]) -> list[str]:
    """The subjects, those first that are least behind over the rows of speed they are in."""
    speed = [s for s in found if s.aspect == "speed"] or found
    behind = {name: _mean(s.places.get(name) for s in speed) for name in evidence.subjects}
    return sorted(behind, key=lambda name: behind[name] or float("inf"))


def _mean(places: Iterable[Rank | None]) -> float | None:
    """The geometric mean over the rows that the subject is in; None without any."""
    logs = [np.log(place.behind) for place in places if place and place.behind]
    return float(np.exp(np.mean(logs))) if logs else None


def _table(evidence: Evidence, found: list[Standing], names: list[str], title: str) -> TextTable:
    present = [name for name in names if any(name in s.places for s in found)]
    rows = []
    for standing in found:
        scale = scale_for([p.median for p in standing.places.values()], standing.quantity.unit)
        best = scale.text(standing.places[standing.best].median)
        cells = [_cell(evidence, standing, name, scale) for name in present]
        rows.append([_label(evidence, standing), *cells, table_cell(best, "", mark="number best")])
    means = [_mean_cell(found, name) for name in present]
    subjects = [table_cell(short_name(name), mark="over-column") for name in present]
    return TextTable(
        [table_cell("row", title), *subjects, table_cell("best value", "", mark="number")],
        rows,
        sortable=True,
        look="matrix",
        foot=[[table_cell("geometric mean"), *means, table_cell("")]] if len(found) > 1 else [],
    )


def _label(evidence: Evidence, standing: Standing) -> TableCell:
    cell = standing.cell
    family, _, name = cell.experiment.rpartition("/")
    alone = len({each.family for each in evidence.experiments.values()}) == 1
    every = [each.parameters for each in evidence.cells[cell.experiment]]
    varying = [k for k in cell.parameters if len({str(p.get(k)) for p in every}) > 1]
    words = [quantity_name(cell.quantity), *(setting(k, cell.parameters[k]) for k in varying)]
    text = f"{name if alone else f'{family}/{name}'} {', '.join(words)}"
    return table_cell(text, label(evidence, cell))


def _mean_cell(found: list[Standing], name: str) -> TableCell:
    places = [s.places.get(name) for s in found]
    mean = _mean(places)
    if mean is None or not all(place and place.behind for place in places):
        return TableCell("", "-", mark="absent", hint="not measured in every row")
    return _shaded(mean)


def _cell(evidence: Evidence, standing: Standing, name: str, scale: Scale) -> TableCell:
    """A factor, with a mark where the pairs cannot tell it from the best; or why there is none: it
    failed here, or was never meant to run here."""
    place = standing.places.get(name)
    if place is None:
        setup = standing.cell.setup
        tried = evidence.tried.get(setup, {}).get(name)
        status, reason = outcome_of(evidence, setup, [name]) if tried else ("ok", "")
        if status == "ok":
            return TableCell("", "-", mark="absent")
        return TableCell(spaced(status), "-", mark="lost", hint=f"{name}: {reason}", value="")
    shown = scale.text(place.median)
    if place.behind is None:
        return TableCell("–", "-", mark="absent", hint=shown, value="")
    cell = _shaded(place.behind)
    unsure = UNSURE * (place.level or place.low is None)
    short = "best" if name == standing.best else significant(place.behind) + unsure
    if place.low is None or place.high is None:
        text, mark, between = f"{cell.text}{UNSURE}", cell.mark, "no interval"
    else:
        low = place.low if place.aside else max(1.0, place.low)
        text, mark = cell.text, f"{cell.mark} level" if place.level else cell.mark
        between = f"{ends(low, place.high)} times"
    hint = f"{place.subject}: {shown}, {between}"
    return replace(cell, text=text, short=short, mark=mark, hint=hint)


def _shaded(behind: float) -> TableCell:
    step = sum(behind >= limit for limit in STEPS)
    words = significant(behind) if behind < 99.95 else f"{behind:,.0f}"
    return TableCell(words, words, mark=f"shade-{step}", value=f"{behind:.4g}")
