"""The page of one experiment, as Markdown."""

from __future__ import annotations

import shlex

from heapwise.analysis.across_runs.recorded_facts import builds
from heapwise.analysis.across_runs.recorded_facts import rounds as rounds_of
from heapwise.analysis.provenance import provenance
from heapwise.analysis.verdicts.comparison import readable
from heapwise.document import (
    Code,
    Folded,
    Heading,
    Notice,
    Passage,
    Sentence,
    SentenceList,
    TextTable,
    plain_table,
    under,
)
from heapwise.model import CitedFigure, Experiment
from heapwise.report.pages.lesson import lesson_passages
from heapwise.report.pages.machine import built_words, kind_of
from heapwise.report.sections.experiments import all_comparisons, expectations, sources
from heapwise.report.story import story
from heapwise.report.view import Group, View
from heapwise.study.experiments.cell_tables import cell_table, median_cell, name_cell
from heapwise.study.trees.row_commands import commands_table
from heapwise.wording.lists import counted
from heapwise.wording.names import cell_words, quantity_name, setting_value, spaced
from heapwise.wording.numbers import scale_for

MANY_CELLS = 6
"""Few cells of a quantity: more of them share one table."""


def page(view: View, experiment: Experiment, *, pictured: bool) -> list[Passage]:
    """Question, verdict, picture, figures with intervals, published ones, expectations, limits."""
    name = experiment.id.rpartition("/")[2]
    told = story(view, experiment)
    groups = view.of(experiment)
    figures: list[Passage] = []
    for quantity in dict.fromkeys(group.quantity for group in groups):
        mine = [group for group in groups if group.quantity == quantity]
        many = len(mine) > MANY_CELLS
        figures += _matrix(view, mine) if many else [p for g in mine for p in _figures(view, g)]
    picture = f"![{experiment.id}: medians with 95 % intervals]({name}.svg)" if pictured else ""
    return [
        Sentence(f"**{experiment.question}**"),
        SentenceList(told.first),
        Sentence(picture),
        Heading("What it isolates"),
        Sentence(experiment.isolates),
        *under("Expected beforehand", [expectations(told)]),
        Folded("Figures", [*figures, *_unmatched(view, experiment)]),
        all_comparisons(told),
        *under("Commands, versions and builds", _programs(view, experiment)),
        *limits(experiment),
        *under("How it was measured", _how(view, experiment, told.detects)),
    ]


def limits(experiment: Experiment) -> list[Passage]:
    """What it does not show, and what it teaches."""
    words = Sentence(experiment.not_shown)
    return [Heading("What it does not show"), words, *lesson_passages(experiment)]


def _programs(view: View, experiment: Experiment) -> list[TextTable]:
    """Each subject once, at the settings of its first cell; controls are their baseline."""
    if not experiment.is_of_programs:
        return []
    rows = view.ranked(row for group in reversed(view.of(experiment)) for row in group.rows)
    cells = {row.subject: row.cell for row in rows}
    return [
        commands_table([provenance(view.evidence, (cells[name], name), name) for name in cells])
    ]


def _figures(view: View, group: Group) -> list[Passage]:
    title = group.title(view.varying(group.experiment))
    return [Heading(title), cell_table(group.experiment, group.rows)]


def _matrix(view: View, groups: list[Group]) -> list[Passage]:
    """One quantity of many cells: a line for each cell, a column for each subject."""
    rows = view.ranked(row for group in groups for row in group.rows)
    subjects = list(dict.fromkeys(row.subject for row in rows))
    scale = scale_for([row.median for row in rows], groups[0].unit)
    lines, notes = [], dict[tuple[str, str], list[str]]()
    for group in groups:
        found = {row.subject: row for row in group.rows if row.subject in subjects}
        words = group.words(view.varying(group.experiment))
        cited = [
            f"{row.subject} {_amount(group.experiment, figure)}"
            for row, figure in group.cited()
            if row.subject in found
        ]
        cells = [
            ""
            if (row := found.get(name)) is None
            else median_cell(row, scale)
            if row.median is not None
            else spaced(row.status)
            for name in subjects
        ]
        lines.append([words, *cells, "; ".join(cited)])
        for row in found.values():
            if note := row.note if row.median is None else name_cell(row).note:
                notes.setdefault((row.subject, note), []).append(words)
    name = scale.heading(quantity_name(groups[0].quantity))
    is_cited = any(line[-1] for line in lines)
    head = ["cell", *subjects, "published" if is_cited else ""]
    told = [
        f"{', '.join([subject, *(['; '.join(cells)] if len(cells) < len(groups) else [])])}: {note}"
        for (subject, note), cells in notes.items()
    ]
    heading = Heading(f"{name}: medians, with their 95 % intervals")
    return [heading, plain_table([head, *lines]), SentenceList(told)]


def _amount(experiment: Experiment, figure: CitedFigure) -> str:
    unit = next((q.unit for q in experiment.quantities if q.name == figure.quantity), "")
    return f"{figure.value:g} {unit}".rstrip()


def _unmatched(view: View, experiment: Experiment) -> list[Passage]:
    """Where the published figures come from, and those whose cell or subject this run has not."""
    shown = [figure for group in view.of(experiment) for _, figure in group.cited()]
    rows = [
        [
            f.subject,
            quantity_name(f.quantity),
            cell_words(readable(experiment, f.parameters)),
            _amount(experiment, f),
            f.machine,
        ]
        for f in experiment.published
        if f not in shown
    ]
    table = plain_table([["subject", "quantity", "cell", "figure", "machine"], *rows])
    return [
        Notice(sources(experiment)),
        *under("Published figures for cells that this run does not have", [table]),
    ]


def _how(view: View, experiment: Experiment, detects: str) -> list[Passage]:
    run = view.run
    fixed = {p.name: p.default for p in experiment.parameters}
    settings = "; ".join(
        f"{spaced(name)} {', '.join(map(setting_value, values))}" for name, values in fixed.items()
    )
    rounds = rounds_of(view.evidence, experiment.id)
    kept = experiment.repeats - experiment.dropped_repeats
    missing = [f"{s.name}: {s.reason}" for s in experiment.subjects if not s.available]
    compiled = builds(view.evidence, experiment.id)
    lines = [
        f"Run {run.id} of {run.created[:10]}: {kind_of(run.machine)}, "
        f"{run.machine.kernel}, {run.machine.distribution}, {run.machine.libc}. "
        f"{counted(rounds, 'round')} of processes in random order, "
        f"{counted(kept, 'repeat')} kept of each. Trust: {view.result.trust.verdict}.",
        f"Compiled with {'; '.join(map(str, compiled))}." if compiled else "",
        built_words(run.revision, experiment.program_hash),
        detects,
        f"By default: {settings}." if settings else "",
        f"Not in this build: {'; '.join(missing)}." if missing else "",
    ]
    return [
        Sentence("\n".join(filter(None, lines))),
        Code(f"heapwise run {shlex.quote(experiment.id)}"),
    ]
