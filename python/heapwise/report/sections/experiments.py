"""A run of experiments: for each its question, its figures, its rows. Its page has them too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from heapwise.analysis.verdicts.comparison import spelt
from heapwise.document import (
    Folded,
    Heading,
    Labelled,
    Notice,
    Passage,
    Plot,
    Sentence,
    SentenceList,
    TextOrCell,
    TextTable,
    column_table,
    table_cell,
    with_content,
)
from heapwise.figures import forest, scaling
from heapwise.model import Experiment, Row
from heapwise.report.lines import axis_of, by_setting
from heapwise.report.story import ExpectationLine, Story, story
from heapwise.report.view import Group, View
from heapwise.study.experiments.cell_tables import cell_table
from heapwise.wording.names import cell_words, quantity_name, setting, split_quantile
from heapwise.wording.numbers import show

TITLE, ORDER = "Experiments", 30

MANY = 12
"""An experiment of more tables shows those of its first quantity; the others can be opened."""

INDEXED = 4
"""From this many experiments on, a table of what each found stands before them."""

FEW_TABLES = 3
"""Up to this many tables are unfolded when the page opens."""

ABOUT_PUBLISHED = (
    "They were measured on another machine, with another system and compiler: compare ratios, not "
    "nanoseconds."
)

MARKS = {"met": "better", "not met": "worse"}


def tell(view: View) -> list[Passage]:
    told = [] if view.is_compare else [story(view, e) for e in view.run.experiments if view.of(e)]
    index = [story_table(told, "#{}-" + view.run.id)] if len(told) >= INDEXED else []
    passages = [passage for each in told for passage in _of_experiment(view, each)]
    return with_content([*index, *passages])


def story_table(stories: list[Story], link: str) -> TextTable:
    """What each experiment found. link: of an experiment, by its name."""
    columns: dict[str, Callable[[Story], TextOrCell]] = {
        "experiment": lambda each: table_cell(
            each.experiment.id, link=link.format(each.experiment.id)
        ),
        "question": lambda each: each.experiment.question,
        "what this run shows first of all": lambda each: each.headline,
        "expectations": lambda each: each.counts,
    }
    return column_table(columns, stories)


def _of_experiment(view: View, told: Story) -> list[Passage]:
    experiment = told.experiment
    groups, varying = view.of(experiment), view.varying(experiment)
    fixed = {k: v for k, v in groups[0].parameters.items() if k not in varying}
    first = [g for g in groups if g.quantity == experiment.quantities[0].name]
    if len(groups) <= MANY:
        first = groups
    rest = [g for g in groups if g not in first]
    limits = [
        Labelled("Isolates.", experiment.isolates),
        Labelled("Does not show.", experiment.not_shown),
    ]
    more: list[Passage] = [
        *_scaling(view, rest, varying),
        *(_table(view, g, is_drawn=False) for g in rest),
    ]
    return [
        Heading(experiment.id, f"{experiment.id}-{view.run.id}"),
        Sentence(experiment.question),
        SentenceList(told.first),
        all_comparisons(told),
        Folded("What it isolates, and what it does not show", limits),
        Notice(cell_words(fixed)),
        expectations(told),
        Notice(told.detects),
        Notice(sources(experiment) if any(True for g in groups for _ in g.cited()) else ""),
        *_scaling(view, first, varying),
        *(
            replace(_table(view, group), is_open=len(first) <= FEW_TABLES or group is first[0])
            for group in first
        ),
        Folded(f"Other quantities: {len(rest)} tables", more),
    ]


def sources(experiment: Experiment) -> str:
    """Where its published figures come from; "" if it has none."""
    found = dict.fromkeys(f"{f.report}; {f.machine}" for f in experiment.published)
    return f"Published: {'. '.join(found)}. {ABOUT_PUBLISHED}" if found else ""


def all_comparisons(told: Story) -> Folded:
    """Empty if the first words are all that there is to say."""
    others = told.sentences if len(told.first) < len(told.sentences) else []
    return Folded(f"All {len(told.sentences)} comparisons", [SentenceList(others)])


def expectations(told: Story) -> TextTable:
    columns: dict[str, Callable[[ExpectationLine], TextOrCell]] = {
        "outcome": lambda line: table_cell(line.verdict, mark=MARKS.get(line.verdict, "unsure")),
        "expected beforehand": lambda line: table_cell(line.says, small=line.measured),
        "here": lambda line: line.figures,
        "bound": lambda line: line.aim,
        "note": lambda line: line.note,
    }
    return column_table(columns, told.checks, look="expected")


def _table(view: View, group: Group, *, is_drawn: bool = True) -> Folded:
    """is_drawn: with its forest and every sample as a dot; else numbers alone, as those are in the
    data at the end."""
    name = group.title(view.varying(group.experiment))
    passages: list[Passage] = [cell_table(group.experiment, group.rows, with_strips=is_drawn)]
    has_ratio = any(row.ratio for row in group.rows)
    if is_drawn and has_ratio and split_quantile(group.quantity) is None:
        baseline = group.experiment.baseline
        caption = f"Relative to {baseline}, with 95 % intervals. {group.better_side}"
        passages.insert(0, Plot(forest.draw(group.rows, name, view.floor(group)), caption))
    return Folded(name, passages)


def _scaling(view: View, groups: list[Group], varying: list[str]) -> list[Plot]:
    """A figure for each quantity and each setting of what varies beside the number of the axis."""
    axis = axis_of(groups, varying)
    if axis is None:
        return []
    found = []
    for quantity in dict.fromkeys(g.quantity for g in groups if not split_quantile(g.quantity)):
        same = [g for g in groups if g.quantity == quantity]
        for others, line in by_setting(same, varying, axis).items():
            title = f"{quantity_name(quantity)} over {axis}"
            name = ", ".join([title, *(setting(n, value) for n, value in others)])
            rows = view.ranked(row for g in line for row in g.rows if row.median)
            found.append(scaling_plot(same[0].experiment, rows, axis, name))
    return found


def scaling_plot(experiment: Experiment, rows: list[Row], axis: str, name: str) -> Plot:
    """Empty if there are no rows. axis: the parameter that they differ in."""
    if not rows:
        return Plot("")
    shown, spell = partial(show, unit=rows[0].unit), partial(spelt, experiment, axis)
    caption = f"{name}: medians with 95 % intervals, every sample as a faint dot."
    return Plot(scaling.draw(rows, axis, name, shown, spell), caption)
