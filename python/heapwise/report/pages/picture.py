"""The picture of an experiment: its first quantity, over a parameter or cell by cell."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from heapwise.evidence import YARDSTICK
from heapwise.figures import ladder
from heapwise.figures.svg import plain_colours
from heapwise.model import Experiment, Row
from heapwise.report.lines import LineSetting, axis_of, by_setting
from heapwise.report.sections.experiments import scaling_plot
from heapwise.report.view import Group, View
from heapwise.wording.names import quantity_name, setting
from heapwise.wording.numbers import scale_for

MOST_CELLS = 12
"""That are shown; an experiment of more has a table of all."""

FEWEST_KNOTS = 3
"""The fewest points of a line; an experiment of fewer is shown cell by cell."""

FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"

GROUND = '><rect x="-9999" y="-9999" width="29999" height="29999" fill="#ffffff"/>'


def picture(view: View, experiment: Experiment) -> str:
    """SVG that stands alone; ``""`` where nothing was measured."""
    groups = [g for g in view.of(experiment) if g.quantity == _quantity(view, experiment)]
    varying = view.varying(experiment)
    if not _rows(view, groups):
        return ""
    title = f"{experiment.id}: {quantity_name(groups[0].quantity)}"
    axis = axis_of(groups, varying)
    others, line = _first_line(groups, varying, axis)
    rows = _rows(view, line)
    if axis is not None and rows and len(line) >= FEWEST_KNOTS and all(row.median for row in rows):
        name = ", ".join([title, *(setting(n, value) for n, value in others)])
        drawn = scaling_plot(experiment, rows, axis, name).svg
    else:
        drawn = _ladder(view, groups, varying, title)
    return standing_alone(drawn)


def _quantity(view: View, experiment: Experiment) -> str:
    """The first that has a figure."""
    measured = {g.quantity for g in view.of(experiment) if any(r.median for r in g.rows)}
    names = [quantity.name for quantity in experiment.quantities]
    return next((name for name in names if name in measured), names[0])


def _rows(view: View, groups: list[Group]) -> list[Row]:
    return [_bare(row) for g in groups for row in g.rows if _shown(view, row)]


def _first_line(
    groups: list[Group], varying: list[str], axis: str | None
) -> tuple[LineSetting, list[Group]]:
    """The groups of the first setting of what varies beside the axis."""
    lines = by_setting(groups, varying, axis) if axis is not None else {}
    return next(iter(lines.items()), ((), []))


def _shown(view: View, row: Row) -> bool:
    return row.median is not None and isfinite(row.median) and _drawn(view, row)


def _drawn(view: View, row: Row) -> bool:
    """The loop alone is far from all others: it would leave them no room."""
    return row.subject not in view.evidence.control_names | {YARDSTICK}


def _bare(row: Row) -> Row:
    """Medians and intervals alone: every sample is in the report, and a page should be small."""
    return replace(row, values=[] if row.median is None else [row.median])


def _ladder(view: View, groups: list[Group], varying: list[str], title: str) -> str:
    """The figure of the first cells in which something was measured."""
    found = []
    measured = [group for group in groups if any(_shown(view, row) for row in group.rows)]
    for group in measured[:MOST_CELLS]:
        rows = [_bare(row) for row in group.rows if _drawn(view, row)]
        found.append(ladder.LadderStep(group.words(varying), rows))
    scale = scale_for([row.median for step in found for row in step.rows], groups[0].unit)
    return ladder.draw(found, scale, title, groups[0].rows[0].better)


def standing_alone(drawn: str) -> str:
    """Without the page's variables, on a ground of its own: a picture is read anywhere."""
    plain = plain_colours(drawn).replace("<svg ", f'<svg font-family="{FONT}" ', 1)
    return f"{plain.replace('>', GROUND, 1)}\n"
