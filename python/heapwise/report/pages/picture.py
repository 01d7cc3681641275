"""The picture of an experiment: its first quantity, over a parameter or cell by cell."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from heapwise.evidence import YARDSTICK
from heapwise.figures import ladder
from heapwise.figures.svg import plain_colours
from heapwise.model import Experiment, Row
from heapwise.report.lines import axis_of, by_setting
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
    quantity, varying = _quantity(view, experiment), view.varying(experiment)
    groups = [_bare(view, group) for group in view.of(experiment) if group.quantity == quantity]
    if not _measured(groups):
        return ""
    title = f"{experiment.id}: {quantity_name(quantity)}"
    axis = axis_of(groups, varying)
    lines = by_setting(groups, varying, axis) if axis is not None else {}
    others, line = next(iter(lines.items()), ((), []))
    rows = _measured(line)
    if axis is not None and rows and len(line) >= FEWEST_KNOTS and all(row.median for row in rows):
        name = ", ".join([title, *(setting(n, value) for n, value in others)])
        return standing_alone(scaling_plot(experiment, rows, axis, name).svg)
    return standing_alone(_ladder(groups, varying, title))


def _quantity(view: View, experiment: Experiment) -> str:
    """The first that has a figure."""
    measured = {g.quantity for g in view.of(experiment) if any(r.median for r in g.rows)}
    names = [quantity.name for quantity in experiment.quantities]
    return next((name for name in names if name in measured), names[0])


def _bare(view: View, group: Group) -> Group:
    """Medians and intervals alone: every sample is in the report, and a page should be small. The
    loop alone is far from all others: it would leave them no room."""
    rows = [row for row in view.ranked(group.rows) if row.subject != YARDSTICK]
    bare = [replace(row, values=[] if row.median is None else [row.median]) for row in rows]
    return replace(group, rows=bare)


def _measured(groups: list[Group]) -> list[Row]:
    rows = (row for group in groups for row in group.rows)
    return [row for row in rows if row.median is not None and isfinite(row.median)]


def _ladder(groups: list[Group], varying: list[str], title: str) -> str:
    """The figure of the first cells in which something was measured."""
    shown = [group for group in groups if _measured([group])][:MOST_CELLS]
    first = shown[0].rows[0]
    steps = [ladder.LadderStep(group.words(varying), group.rows) for group in shown]
    scale = scale_for([row.median for step in steps for row in step.rows], first.unit)
    return ladder.draw(steps, scale, title, first.better)


def standing_alone(drawn: str) -> str:
    """Without the page's variables, on a ground of its own: a picture is read anywhere."""
    plain = plain_colours(drawn).replace("<svg ", f'<svg font-family="{FONT}" ', 1)
    return f"{plain.replace('>', GROUND, 1)}\n"
