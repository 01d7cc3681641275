"""The page of one experiment, as Markdown."""

from __future__ import annotations

import shlex

from heapwise.analysis.across_runs.recorded_facts import builds
from heapwise.analysis.across_runs.recorded_facts import rounds as rounds_of
from heapwise.analysis.provenance import Provenance, provenance
from heapwise.analysis.verdicts.comparison import readable
from heapwise.analysis.verdicts.published_figures import published_figures
from heapwise.document.markdown import markdown, table
from heapwise.model import CitedFigure, Experiment
from heapwise.report.cells import ColumnCell, cells
from heapwise.report.pages.lesson import lesson_lines
from heapwise.report.pages.machine import built_words, kind_of
from heapwise.report.story import story
from heapwise.report.view import Group, View
from heapwise.study.trees.row_commands import commands_table
from heapwise.wording.lists import counted
from heapwise.wording.names import cell_words, quantity_name, setting_value, spaced
from heapwise.wording.numbers import scale_for

PUBLISHED = "published"

MANY_CELLS = 6
"""Few cells of a quantity: more of them share one table."""


def page(view: View, experiment: Experiment, pictured: bool) -> str:
    """Question, verdict, picture, figures with intervals, published ones, expectations, limits."""
    name = experiment.id.rpartition("/")[2]
    told = story(view, experiment)
    lines = [f"# {experiment.id}", "", f"**{experiment.question}**", ""]
    lines += [*(f"- {sentence}" for sentence in told.first), ""] if told.first else []
    if pictured:
        lines += [f"![{experiment.id}: medians with 95 % intervals]({name}.svg)", ""]
    lines += ["## What it isolates", "", experiment.isolates, ""]
    if told.checks:
        lines += [
            "## Expected beforehand",
            "",
            *table(
                ["", "expectation", "here", "bound", "of", "note"],
                [[c.verdict, c.says, c.figures, c.aim, c.measured, c.note] for c in told.checks],
            ),
            "",
        ]
    lines += ["## Figures", ""]
    groups = view.of(experiment)
    for quantity in dict.fromkeys(group.quantity for group in groups):
        mine = [group for group in groups if group.quantity == quantity]
        if len(mine) > MANY_CELLS:
            lines += [*_matrix(view, mine, experiment), ""]
        else:
            lines += [line for g in mine for line in (*_figures(view, g, experiment), "")]
    lines += [*_unmatched(view, experiment)]
    if len(told.first) < len(told.sentences):
        lines += ["## All comparisons", "", *(f"- {s}" for s in told.sentences), ""]
    if rows := _programs(view, experiment):
        lines += ["## Commands, versions and builds", "", *markdown([commands_table(rows)])]
    lines += limits_lines(experiment)
    lines += ["## How it was measured", "", *_how(view, experiment, told.detects)]
    return "\n".join(lines) + "\n"


def limits_lines(experiment: Experiment) -> list[str]:
    """What it does not show, and what it teaches."""
    limits = ["## What it does not show", "", experiment.not_shown, ""]
    return [*limits, *lesson_lines(experiment)]


def _programs(view: View, experiment: Experiment) -> list[Provenance]:
    """Each subject once, at the settings of its first cell; controls are their baseline."""
    if not experiment.is_of_programs:
        return []
    cells = {
        row.subject: row.cell
        for group in reversed(view.of(experiment))
        for row in group.rows
        if row.subject not in view.evidence.control_names
    }
    return [provenance(view.evidence, (cells[name], name), name) for name in cells]


def _figures(view: View, group: Group, experiment: Experiment) -> list[str]:
    """One cell and quantity; published figures stand in a column of their own."""
    scale = scale_for([row.median for row in group.rows], group.unit)
    words = cell_words(readable(experiment, group.parameters, view.varying(experiment)))
    published = {
        row.subject: published_figures(experiment, row.subject, row.cell) for row in group.rows
    }
    head = [
        "subject",
        f"median{f', {scale.label}' if scale.label else ''}",
        "95 % of median",
        f"against {experiment.baseline}",
        "95 %",
    ]
    rows = []
    for cell in cells(group, scale, with_strip=False).values():
        line = [cell.row.subject, cell.median or "–", cell.ends, cell.relation, cell.interval]
        rows.append(
            [
                *line,
                *(
                    [_cited(experiment, published[cell.row.subject])]
                    if any(published.values())
                    else []
                ),
            ]
        )
    title = ", ".join(word for word in (quantity_name(group.quantity), words) if word)
    head += [PUBLISHED] if any(published.values()) else []
    notes = _notes(view, [group], experiment)
    return [f"### {title}", "", *table(head, rows), *(["", *notes] if notes else [])]


def _notes(view: View, groups: list[Group], experiment: Experiment) -> list[str]:
    """What has to be known of rows, each note once with the cells that it is about; of a row
    without a figure, why there is none."""
    found: dict[tuple[str, str], list[str]] = {}
    for group in groups:
        words = cell_words(readable(experiment, group.parameters, view.varying(experiment)))
        for row in group.rows:
            is_told = row.median is None or row.ratio is not None
            if row.note and is_told and row.subject not in view.evidence.control_names:
                found.setdefault((row.subject, row.note), []).append(words)
    return [
        f"- {subject}{_where(cells, len(groups))}: {note}"
        for (subject, note), cells in found.items()
    ]


def _where(cells: list[str], groups: int) -> str:
    """Nothing if it is about all of them."""
    return "" if len(cells) == groups else f", {'; '.join(cells)}"


def _matrix(view: View, groups: list[Group], experiment: Experiment) -> list[str]:
    """One quantity of many cells: a line for each cell, a column for each subject."""
    controls = view.evidence.control_names
    rows = [row for group in groups for row in group.rows if row.subject not in controls]
    subjects = list(dict.fromkeys(row.subject for row in rows))
    scale = scale_for([row.median for row in rows], groups[0].unit)
    varying, lines, is_cited = view.varying(experiment), [], False
    for group in groups:
        found = cells(group, scale, with_strip=False)
        words = [_short(found[name]) if name in found else "" for name in subjects]
        cited = [
            f"{row.subject} {_cited(experiment, own)}"
            for row in group.rows
            if (own := published_figures(experiment, row.subject, row.cell))
        ]
        is_cited = is_cited or bool(cited)
        lines.append(
            [cell_words(readable(experiment, group.parameters, varying)), *words, "; ".join(cited)]
        )
    head = ["cell", *subjects, PUBLISHED]
    shown = lines if is_cited else [line[:-1] for line in lines]
    name = ", ".join(w for w in (quantity_name(groups[0].quantity), scale.label) if w)
    notes = _notes(view, groups, experiment)
    return [
        f"### {name}: medians, with their 95 % intervals",
        "",
        *table(head if is_cited else head[:-1], shown),
        *(["", *notes] if notes else []),
    ]


def _short(cell: ColumnCell) -> str:
    """``500 (499–502)``, or why there is none."""
    if not cell.median:
        return spaced(cell.row.status)
    return f"{cell.median} ({cell.ends})" if cell.ends else cell.median


def _cited(experiment: Experiment, found: list[CitedFigure]) -> str:
    """With the report where figures of several stand on the page."""
    reports = {figure.report for figure in experiment.published}
    return "; ".join(
        f"{_amount(experiment, f)}{f' ({f.report})' if len(reports) > 1 else ''}" for f in found
    )


def _amount(experiment: Experiment, figure: CitedFigure) -> str:
    unit = next((q.unit for q in experiment.quantities if q.name == figure.quantity), "")
    return f"{figure.value:g} {unit}".rstrip()


def _unmatched(view: View, experiment: Experiment) -> list[str]:
    """Where the published figures come from, and those whose cell or subject this run has not."""
    shown = [
        f
        for group in view.of(experiment)
        for row in group.rows
        for f in published_figures(experiment, row.subject, row.cell)
    ]
    rest = [f for f in experiment.published if f not in shown]
    sources = dict.fromkeys(f"{f.report}; {f.machine}" for f in experiment.published)
    lines = [f"Published: {'. '.join(sources)}.", ""] if sources else []
    if not rest:
        return lines
    rows = [
        [
            f.subject,
            quantity_name(f.quantity),
            cell_words(readable(experiment, f.parameters)),
            _amount(experiment, f),
            f.machine,
        ]
        for f in rest
    ]
    return [
        *lines,
        "### Published figures for cells that this run does not have",
        "",
        *table(["subject", "quantity", "cell", "figure", "machine"], rows),
        "",
    ]


def _how(view: View, experiment: Experiment, detects: str) -> list[str]:
    run = view.run
    fixed = {p.name: p.default for p in experiment.parameters}
    settings = "; ".join(
        f"{spaced(name)} {', '.join(map(setting_value, values))}" for name, values in fixed.items()
    )
    rounds = rounds_of(view.evidence, experiment.id)
    kept = experiment.repeats - experiment.dropped_repeats
    lines = [
        f"Run {run.id} of {run.created[:10]}: {kind_of(run.machine)}, "
        f"{run.machine.kernel}, {run.machine.distribution}, {run.machine.libc}. "
        f"{counted(rounds, 'round')} of processes in random order, "
        f"{counted(kept, 'repeat')} kept of each. Trust: {view.result.trust.verdict}."
    ]
    compiled = builds(view.evidence, experiment.id)
    lines += [f"Compiled with {'; '.join(map(str, compiled))}."] if compiled else []
    lines += [words] if (words := built_words(run.revision, experiment.program_hash)) else []
    lines += [detects] if detects else []
    lines += [f"By default: {settings}."] if settings else []
    missing = [f"{s.name}: {s.reason}" for s in experiment.subjects if not s.available]
    lines += [f"Not in this build: {'; '.join(missing)}."] if missing else []
    return [*lines, "", f"    heapwise run {shlex.quote(experiment.id)}"]
