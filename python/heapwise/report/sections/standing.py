"""At a glance: every row, which is best in it, and how many times behind the others are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from heapwise.analysis.verdicts.gain import PEAK
from heapwise.analysis.verdicts.rows import outcome
from heapwise.analysis.verdicts.standing import Rank, Standing, are_many_questions, standings
from heapwise.model import short_name
from heapwise.report.context import Context
from heapwise.report.view import View
from heapwise.wording.names import quantity_name, setting, spaced
from heapwise.wording.numbers import ends, scale_for, significant

TITLE, ORDER = "At a glance", 21

TABLES = (
    ("speed", "Speed"),
    ("memory", "Memory"),
    ("latency", "Latency"),
    ("more", "Other measures of memory, and all else"),
)
OPEN = ("speed", "memory")
"""The others can be opened: rows that answer the first questions stand first."""

STEPS = (1.05, 1.15, 1.3, 1.6, 2.5)
"""The shades, from the best to the last: each is for factors below its number."""

LEAST_ROWS = 2


@dataclass(frozen=True)
class _Row:
    """One question. cells: a place of each subject, as the template shows it."""

    experiment: str
    cell: str
    best: str
    cells: list[dict[str, str]]


@dataclass(frozen=True)
class _Table:
    """The questions of one aspect, and the mean of each subject."""

    title: str
    open: bool
    subjects: list[str]
    rows: list[_Row]
    means: list[dict[str, str]]


def build(view: View) -> Context | None:
    if view.is_compare or view.run.plan.smoke:
        return None
    found = standings(view.evidence)
    if len(found) < LEAST_ROWS or are_many_questions(view.evidence):
        return None
    names = _order(view, found)
    tables = [
        _table(view, [s for s in found if _part(view, s) == part], names, title, part in OPEN)
        for part, title in TABLES
    ]
    return {"tables": [table for table in tables if table.rows], "short": short_name}


def _part(view: View, standing: Standing) -> str:
    """For memory the peak, and what an experiment on memory asks for first."""
    first = next(
        e.quantities[0].name for e in view.run.experiments if e.id == standing.cell.experiment
    )
    if standing.aspect in ("speed", "latency"):
        return standing.aspect
    leads = standing.quantity.name in (PEAK, first)
    return "memory" if standing.aspect == "memory" and leads else "more"


def _order(view: View, found: list[Standing]) -> list[str]:
    """The plan's subjects, those first that are least behind over the rows of speed they are in."""
    speed = [s for s in found if s.aspect == "speed"] or found
    behind = {name: _mean(s.places.get(name) for s in speed) for name in view.evidence.subjects}
    present = {name for s in found for name in s.places}
    return sorted(
        (name for name in behind if name in present), key=lambda name: behind[name] or float("inf")
    )


def _mean(places: Iterable[Rank | None]) -> float | None:
    """The geometric mean over the rows that the subject is in; None without any."""
    logs = [np.log(place.behind) for place in places if place and place.behind]
    return float(np.exp(np.mean(logs))) if logs else None


def _table(
    view: View, found: list[Standing], names: list[str], title: str, is_open: bool
) -> _Table:
    present = [name for name in names if any(name in s.places for s in found)]
    means = {
        name: _mean(s.places.get(name) for s in found)
        for name in present
        if all(name in s.places and s.places[name].behind for s in found)
    }
    return _Table(
        title=title,
        open=is_open,
        subjects=present,
        rows=[_row(view, s, present) for s in found],
        means=[_shade(means.get(name)) for name in present] if len(found) > 1 else [],
    )


def _row(view: View, standing: Standing, names: list[str]) -> _Row:
    scale = scale_for([p.median for p in standing.places.values()], standing.quantity.unit)
    best = standing.places[standing.best]
    family, _, name = standing.cell.experiment.rpartition("/")
    return _Row(
        experiment=name if _one_family(view) else f"{family}/{name}",
        cell=_cell_words(view, standing),
        best=scale.text(best.median),
        cells=[
            _cell(standing.places[name], scale.text)
            if name in standing.places
            else _nothing(view, standing, name)
            for name in names
        ],
    )


def _nothing(view: View, standing: Standing, name: str) -> dict[str, str]:
    """Why there is no figure: it failed here, or was never meant to run here."""
    tried = view.evidence.tried.get(standing.cell.setup, {}).get(name)
    status, reason = outcome(tried) if tried else ("ok", "")
    if status == "ok":
        return {"words": "", "class": "absent", "hint": "", "value": ""}
    return {"words": spaced(status), "class": "lost", "hint": f"{name}: {reason}", "value": ""}


def _one_family(view: View) -> bool:
    return len({e.family for e in view.run.experiments}) == 1


def _cell_words(view: View, standing: Standing) -> str:
    experiment = next(e for e in view.run.experiments if e.id == standing.cell.experiment)
    settings, varying = standing.cell.parameters, view.varying(experiment)
    words = [quantity_name(standing.cell.quantity)]
    words += [setting(name, settings[name]) for name in varying if name in settings]
    return ", ".join(words)


def _cell(place: Rank, show: Callable[[float], str]) -> dict[str, str]:
    if place.behind is None:
        return {"words": "–", "class": "absent", "hint": show(place.median), "value": ""}
    between = (
        ""
        if place.low is None or place.high is None
        else (f", {ends(place.low if place.aside else max(1.0, place.low), place.high)} times")
    )
    shade = _shade(place.behind)
    if place.low is None:
        shade = {**shade, "words": f"{shade['words']}?"}
        between = ", no interval"
    elif place.level:
        shade = {**shade, "class": f"{shade['class']} level"}
    return {**shade, "hint": f"{place.subject}: {show(place.median)}{between}"}


def _shade(behind: float | None) -> dict[str, str]:
    if behind is None:
        return {"words": "", "class": "absent", "hint": "not measured in every row", "value": ""}
    step = sum(behind >= limit for limit in STEPS)
    words = significant(behind) if behind < 99.95 else f"{behind:,.0f}"
    return {"words": words, "class": f"shade-{step}", "value": f"{behind:.4g}", "hint": ""}
