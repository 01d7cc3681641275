"""Ways to manage memory: their table on this machine, time against memory, and budgets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from markupsafe import Markup

from heapwise.analysis.gain import PEAK
from heapwise.analysis.provenance import provenance
from heapwise.analysis.published_figures import published_figures
from heapwise.analysis.tree_headlines import GROUPS, group_place, has_curves
from heapwise.figures import plane
from heapwise.model import Experiment, Row, SubjectName, short_name
from heapwise.report.view import View
from heapwise.study.trees.tree_table import WALL, TreeLine, TreeTable, tree_tables
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import Scale, show, significant
from heapwise.wording.ratios import interval, relation

TITLE, ORDER = "Ways to manage memory", 23

MIB = 2.0**20

QUANTITIES = ("wall", "user", "system", PEAK, "collections", "longest_pause")
NOTHING = ("", "")


def build(view: View) -> dict[str, Any] | None:
    parts = [
        _part(view, experiment)
        for experiment in view.run.experiments
        if experiment.is_of_programs and view.of(experiment)
    ]
    return {"parts": parts} if parts else None


def picture(view: View) -> tuple[Markup, str] | None:
    """The first map of the run, for its first screen; None where nothing was measured."""
    for experiment in view.run.experiments:
        if experiment.is_of_programs:
            for table in tree_tables(experiment, view.result.rows):
                if figure := _figure(view, table):
                    return figure
    return None


def _part(view: View, experiment: Experiment) -> dict[str, Any]:
    tables = tree_tables(experiment, view.result.rows)
    return {
        "experiment": experiment,
        "tables": [_table(view, table) for table in tables],
        "figures": [figure for table in tables if (figure := _figure(view, table))],
        "is_open": not has_curves(experiment),
    }


def _table(view: View, table: TreeTable) -> dict[str, Any]:
    scales = table.scales(QUANTITIES)
    published = {line.subject: _published(table, line) for line in table.lines}
    machines = {
        f.machine: f.report
        for f in table.experiment.published
        if any(f.machine in found for found in published.values())
    }
    return {
        "provenance": {
            line.subject: provenance(view.evidence, (table.cell(WALL), line.subject))
            for line in table.lines
        },
        "name": table.words(),
        "machines": list(machines.items()),
        "columns": [(quantity_name(q), scale.label) for q, scale in scales.items()],
        "groups": [
            (
                title,
                [
                    _line(
                        line,
                        scales,
                        [published[line.subject].get(machine, NOTHING) for machine in machines],
                    )
                    for line in lines
                ],
            )
            for title, lines in table.groups.items()
        ],
    }


def _line(
    line: TreeLine,
    scales: dict[str, Scale],
    published: list[tuple[str, str]],
) -> dict[str, Any]:
    wall = line.rows.get(WALL)
    return {
        "subject": line.subject,
        "spec": line.spec,
        "trouble": line.trouble,
        "missing": not line.spec.available,
        "control": line.control,
        "row": wall,
        "cells": [_cell(line, quantity, scale) for quantity, scale in scales.items()],
        "relation": relation(wall) if wall and not line.trouble else "",
        "interval": interval(wall) if wall and not line.trouble else "",
        "published": published,
    }


def _cell(line: TreeLine, quantity: str, scale: Scale) -> tuple[str, str, float | None]:
    """Median, its interval, and the number to sort by."""
    value, row = line.median(quantity), line.rows.get(quantity)
    if value is None or row is None:
        return "", "", None
    ends = (
        ""
        if row.ci_low is None or row.ci_high is None
        else (f"{scale.number(row.ci_low)}–{scale.number(row.ci_high)}")
    )
    return scale.number(value), ends, value


def _published(table: TreeTable, line: TreeLine) -> dict[str, tuple[str, str]]:
    """Machine -> real time, and user and system time, of the same cell; in seconds, as printed."""
    found: dict[str, dict[str, str]] = {}
    for quantity in ("wall", "user", "system"):
        for figure in published_figures(table.experiment, line.subject, table.cell(quantity)):
            found.setdefault(figure.machine, {})[quantity] = f"{figure.value:.2f}"
    return {
        machine: (
            times.get(WALL, ""),
            " ".join(f"{times[q]} {q}" for q in ("user", "system") if q in times),
        )
        for machine, times in found.items()
    }


def _figure(view: View, table: TreeTable) -> tuple[Markup, str] | None:
    """The map of all rows; of an experiment with budgets the curve of each runtime."""
    trails = _trails(view, table)
    if len(trails) < 2:
        return None
    curves = has_curves(table.experiment)
    kinds = [] if curves else list(GROUPS.values())
    if curves:
        trails = [
            *(replace(trail, kind=0) for trail in trails if len(trail.marks) == 1),
            *(
                replace(trail, kind=number)
                for number, trail in enumerate(
                    (trail for trail in trails if len(trail.marks) > 1), 1
                )
            ),
        ]
    title = f"Time against peak memory, {table.words()}"
    drawn = plane.draw(trails, kinds, title, (partial(show, unit="s"), _mebibytes))
    caption = (
        "Medians of whole processes with 95 % intervals, both axes logarithmic. Down and "
        "left is better. "
    )
    caption += (
        "One curve for each runtime, its settings joined from lean (the ring) to generous; "
        "a runtime without such a setting is a point."
        if curves
        else "Kinds are told apart by colour and are not ranked against each other."
    )
    left_out = [line.subject for line in table.lines if line.trouble]
    if left_out:
        caption += f" Without a point: {', '.join(left_out)}."
    return Markup(drawn), f"{title}. {caption}"


def _trails(view: View, table: TreeTable) -> list[plane.Trail]:
    """Points of one runtime in the order in which the experiment declares them."""
    order = {spec.name: place for place, spec in enumerate(table.experiment.subjects)}
    found: dict[str, plane.Trail] = {}
    lines = [
        line
        for line in table.lines
        if not line.control and line.median(WALL) is not None and line.median(PEAK)
    ]
    for line in sorted(lines, key=lambda line: order[line.spec.name]):
        name = SubjectName.parse(line.subject).curve
        kind = group_place(line.spec.group)
        trail = found.setdefault(name, plane.Trail(short_name(name), [], kind))
        trail.marks.append(
            plane.Mark(
                short_name(line.subject), _triple(line.rows[WALL]), _triple(line.rows[PEAK], MIB)
            )
        )
    return list(found.values())


def _triple(row: Row, factor: float = 1.0) -> plane.Extent:
    middle = row.median or 0.0
    low, high = row.ci_low or middle, row.ci_high or middle
    return low / factor, middle / factor, high / factor


def _mebibytes(number: float) -> str:
    return f"{significant(number)} MiB"
