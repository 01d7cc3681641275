"""The page of a published report on one machine: its figures beside ours, its conclusions
judged."""

from __future__ import annotations

import shlex

from heapwise.analysis.recorded_facts import rounds
from heapwise.document.markdown import table
from heapwise.model import PublishedFigure, PublishedRow, SourceMachine
from heapwise.report.pages.machine import machine_table, title_of
from heapwise.report.pages.programs import programs_table
from heapwise.report.view import View
from heapwise.study.reproduce.reproduced import Ours, Reproduced, ReproducedTable, statement_text
from heapwise.wording.lists import counted
from heapwise.wording.names import plain_value, quantity_name, setting_value, spaced
from heapwise.wording.numbers import ends, percent, significant

NOISY = 0.05
"""A difference that would be found only if it is larger than this makes an experiment noisy: no
"no difference" can be shown with it."""

NOTHING_HERE = "–"


def reproduced_page(view: View, found: Reproduced, *, has_experiments: bool = True) -> str:
    """Pictures lie in a folder of the report's name beside the page, and so do the pages of its
    experiments."""
    report, name = found.report, found.report.name
    counts = ", ".join(f"{number} {word}" for word, number in found.counts.items())
    link = f" [Where it can be read]({report.link})." if report.link else ""
    lines = [
        f"# {report.title}",
        "",
        f"On {title_of(view.run.machine)}.",
        "",
        f"{report.origin.rstrip('.')}.{link}",
        "",
        report.about,
        "",
        f"**{counted(len(found.conclusions), 'conclusion')}: {counts}.**",
        "",
        *_trust(view),
        *_changed(found),
        "",
        "## Conclusions",
        "",
        *_conclusions(found),
        "",
    ]
    for each in found.tables:
        cited = (
            f"Published figures: {report.machines[each.table.machine].title}. "
            if any(figure.value is not None for figure in each.table.figures)
            else ""
        )
        lines += [
            f"## {each.table.title}",
            "",
            f"{cited}In brackets: the 95 % interval of ours.",
            "",
            *_table(each),
            "",
        ]
        lines += [
            line
            for picture in report.pictures
            if picture.table == each.table.name
            for line in (f"![{picture.title}]({name}/{picture.name}.svg)", "")
        ]
    if found.programs:
        lines += ["## Commands, versions and builds", "", *programs_table(found.programs), ""]
    lines += [
        "## Noise",
        "",
        *_noise(view, f"{name}/" if has_experiments else ""),
        "",
        "## Machines",
        "",
        *machine_table(view),
        "",
        *(line for machine in report.machines.values() for line in (*_source(machine), "")),
        "## How it was measured",
        "",
        *_how(view, found),
    ]
    return "\n".join(lines) + "\n"


def _trust(view: View) -> list[str]:
    trust = view.result.trust
    against = [check for check in trust.checks if check.verdict in ("warn", "fail")]
    smoke = ["This was a smoke run: its figures mean nothing."] if view.run.plan.smoke else []
    return [
        *smoke,
        f"Trust: {trust.verdict}{'.' if not against else ':'}",
        *(f"- {check.id}: {check.detail}" for check in against),
    ]


def _changed(found: Reproduced) -> list[str]:
    """A smoke run has sizes of its own, and says that its figures mean nothing."""
    words = ", ".join(
        f"{spaced(name)} {setting_value(value)}" for name, value in found.changes.items()
    )
    return ["", f"Measured with {words} instead of the report's."] if words else []


def _conclusions(found: Reproduced) -> list[str]:
    rows = []
    for judged in found.conclusions:
        shown = "; ".join(statement_text(part) for part in judged.parts) or judged.reason
        if judged.parts and judged.reason and judged.reason not in shown:
            shown = f"{shown}; {judged.reason}"
        rows.append([judged.verdict, judged.conclusion.topic, judged.conclusion.says, shown])
    return table(["verdict", "topic", "the report concludes", "here"], rows)


def _table(each: ReproducedTable) -> list[str]:
    """For each column of the report its figure and ours; the report's alone or ours alone, where
    the other side has none at all. Where rows of a column have units of their own, the figures
    have them, too."""
    shown = each.table
    has_notes = any(row.note for row in shown.rows)
    has_published = [
        any(row.figures[at].value is not None for row in shown.rows)
        for at in range(len(shown.columns))
    ]
    head = [shown.rows_are]
    for name, published in zip(shown.columns, has_published, strict=True):
        unit = _unit(each, shown.columns.index(name))
        title = ", ".join(word for word in dict.fromkeys((name, unit)) if word)
        head += [f"{title}: published" if title else "published", "here"] if published else [title]
    with_units = [not _unit(each, at) for at in range(len(shown.columns))]
    rows = [
        [
            row.title,
            *_cells(row, ours, has_published, with_units),
            *([row.note] if has_notes else []),
        ]
        for row, ours in zip(shown.rows, each.ours, strict=True)
    ]
    notes = dict.fromkeys(
        own.note for ours in each.ours for own in ours if own.value is None and own.note
    )
    return [
        *table([*head, "note of the report"] if has_notes else head, rows),
        *(["", *(f"- Not here: {note}" for note in notes)] if notes else []),
    ]


def _unit(each: ReproducedTable, at: int) -> str:
    units = {row.figures[at].unit for row in each.table.rows}
    return units.pop() if len(units) == 1 else ""


def _cells(
    row: PublishedRow, ours: list[Ours], has_published: list[bool], with_units: list[bool]
) -> list[str]:
    found = []
    for figure, own, published, with_unit in zip(
        row.figures, ours, has_published, with_units, strict=True
    ):
        texts = [figure.text, _number(own, figure)] if published else [_number(own, figure)]
        unit = f" {figure.unit}" if with_unit and figure.unit else ""
        found += [f"{text}{unit}" if text not in ("", NOTHING_HERE) else text for text in texts]
    return found


def _number(own: Ours, figure: PublishedFigure) -> str:
    if own.value is None:
        return NOTHING_HERE if own.note or figure.ours else ""
    if own.low is None or own.high is None:
        return significant(own.value)
    return f"{significant(own.value)} ({ends(own.low, own.high)})"


def _noise(view: View, folder: str) -> list[str]:
    """What each experiment could have shown."""
    least = {each.experiment: each for each in view.result.detectable}
    rows = []
    for experiment in view.run.experiments:
        known = least.get(experiment.id)
        words, verdict = "not known", "noise not known"
        if known and known.difference is not None:
            worst = f"; {percent(known.worst)} in {known.worst_cell}" if known.worst else ""
            words = f"{percent(known.difference)} in {quantity_name(known.quantity)}{worst}"
            verdict = "noisy" if known.difference > NOISY else ""
        name = f"[{experiment.id}]({folder}{experiment.id}.md)" if folder else experiment.id
        rows.append([name, str(rounds(view.evidence, experiment.id)), words, verdict])
    return table(
        ["experiment", "rounds", "a difference that would be found 4 times in 5", ""], rows
    )


def _source(machine: SourceMachine) -> list[str]:
    facts = [
        ("Processor", machine.processor),
        ("Caches", machine.caches),
        ("Memory", machine.memory),
        ("System", machine.system),
        ("Compiler", machine.compiler),
        ("Flags", machine.flags),
        ("Versions", machine.versions),
    ]
    return table(
        ["", f"of the report: {machine.title}"],
        [[name, " ".join(value.split())] for name, value in facts if value],
    )


def _how(view: View, found: Reproduced) -> list[str]:
    run = view.run
    missing = dict.fromkeys(
        f"{spec.name}: {spec.reason}"
        for experiment in run.experiments
        for spec in experiment.subjects
        if not spec.available
    )
    lines = [
        f"Run {run.id} of {run.created[:10]}, Heapwise {run.version}, "
        f"{counted(rounds(view.evidence), 'round')} of processes in random order."
    ]
    lines += ["", "Not here:", "", *(f"- {words}" for words in missing)] if missing else []
    return [*lines, "", f"    {_command(view, found)}", "    heapwise reproduce --pages FOLDER"]


def _command(view: View, found: Reproduced) -> str:
    """What makes a run like this one, as a shell reads it."""
    words = ["heapwise", "reproduce", found.report.name]
    if view.run.plan.smoke:
        words.append("--smoke")
    else:
        words += [
            word
            for name, value in found.changes.items()
            for word in ("--set", f"{name}={plain_value(value)}")
        ]
    return shlex.join(words)
