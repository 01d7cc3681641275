"""A run of experiments: for each its question, its figures, its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from heapwise.analysis.verdicts.comparison import spelt
from heapwise.analysis.verdicts.published_figures import published_figures
from heapwise.figures import forest, scaling
from heapwise.model import Experiment, Row
from heapwise.report.cells import ColumnCell, cells
from heapwise.report.context import Context
from heapwise.report.lines import axis_of, by_setting
from heapwise.report.story import Story, story
from heapwise.report.view import Group, View
from heapwise.wording.names import cell_words, quantity_name, setting, split_quantile
from heapwise.wording.numbers import Scale, scale_for, show

TITLE, ORDER = "Experiments", 30

MANY = 12
"""An experiment of more tables shows those of its first quantity; the others can be opened."""

INDEXED = 4
"""From this many experiments on, a table of what each found stands before them."""


def build(view: View) -> Context | None:
    if view.is_compare:
        return None
    parts = [_part(view, e) for e in view.run.experiments if view.of(e)]
    return {"parts": parts, "index": len(parts) >= INDEXED} if parts else None


@dataclass(frozen=True)
class _Table:
    """One cell and quantity. published: subject -> figure, title of its report, machine."""

    name: str
    unit: str
    forest: Markup
    better: str
    drawn: bool
    cells: list[ColumnCell]
    published: dict[str, list[tuple[str, str, str]]]


@dataclass(frozen=True)
class _Part:
    """One experiment. more, more_figures: what can be opened."""

    experiment: Experiment
    story: Story
    fixed: str
    varying: list[str]
    figures: list[tuple[str, Markup]]
    more_figures: list[tuple[str, Markup]]
    tables: list[_Table]
    more: list[_Table]


def _part(view: View, experiment: Experiment) -> _Part:
    groups, varying = view.of(experiment), view.varying(experiment)
    fixed = {k: v for k, v in groups[0].parameters.items() if k not in varying}
    first = [g for g in groups if g.quantity == experiment.quantities[0].name]
    first, rest = (
        (first, [g for g in groups if g not in first]) if len(groups) > MANY else (groups, [])
    )
    return _Part(
        experiment=experiment,
        story=story(view, experiment),
        fixed=cell_words(fixed),
        varying=varying,
        figures=_scaling(view, first, varying),
        more_figures=_scaling(view, rest, varying),
        tables=[_table(view, group, varying) for group in first],
        more=[_table(view, group, varying, drawn=False) for group in rest],
    )


def _name(group: Group, varying: list[str]) -> str:
    words = [setting(name, group.parameters[name]) for name in varying if name in group.parameters]
    return ", ".join([quantity_name(group.quantity), *words])


def _table(view: View, group: Group, varying: list[str], *, drawn: bool = True) -> _Table:
    """drawn: with its forest and every sample as a dot; else numbers alone."""
    scale = scale_for([row.min for row in group.rows], group.unit)
    name, picture = _name(group, varying), ""
    if drawn and any(row.ratio for row in group.rows) and split_quantile(group.quantity) is None:
        picture = forest.draw(group.rows, name, view.floor(group))
    return _Table(
        name=name,
        unit=scale.label,
        forest=Markup(picture),
        better=group.rows[0].better,
        drawn=drawn,
        cells=list(cells(group, scale, with_strip=drawn).values()),
        published={
            row.subject: found for row in group.rows if (found := _published(group, row, scale))
        },
    )


def _published(group: Group, row: Row, scale: Scale) -> list[tuple[str, str, str]]:
    """Figure, title of its report, machine; in the unit of the table."""
    return [
        (scale.number(f.value), f.report, f.machine)
        for f in published_figures(group.experiment, row.subject, row.cell)
    ]


def _scaling(view: View, groups: list[Group], varying: list[str]) -> list[tuple[str, Markup]]:
    """A figure for each quantity and each setting of what varies beside the number of the axis."""
    found: list[tuple[str, Markup]] = []
    axis = axis_of(groups, varying)
    if axis is None:
        return found
    for quantity in dict.fromkeys(g.quantity for g in groups):
        same = [g for g in groups if g.quantity == quantity]
        for others, cells_of_line in by_setting(same, varying, axis).items():
            rows = [
                row
                for g in cells_of_line
                for row in g.rows
                if row.median and row.subject not in view.evidence.control_names
            ]
            if not rows or split_quantile(quantity) is not None:
                continue
            name = ", ".join(
                [
                    f"{quantity_name(quantity)} over {axis}",
                    *(setting(n, value) for n, value in others),
                ]
            )
            drawn = scaling.draw(
                rows,
                axis,
                name,
                partial(show, unit=rows[0].unit),
                partial(spelt, groups[0].experiment, axis),
            )
            if drawn:
                found.append(
                    (
                        f"{name}: medians with 95 % intervals, every sample as a faint dot.",
                        Markup(drawn),
                    )
                )
    return found
