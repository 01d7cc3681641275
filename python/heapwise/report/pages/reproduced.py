"""The page of a published report on one machine: its figures beside ours, its conclusions
judged."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence

from heapwise.analysis.across_runs.recorded_facts import rounds
from heapwise.document import Sentence
from heapwise.document.markdown import markdown, table
from heapwise.report.pages.machine import built_words, kind_of, machine_table
from heapwise.report.view import View
from heapwise.study.reproduce.reproduced import Reproduced
from heapwise.study.reproduce.tell import (
    author_words,
    changes_words,
    conclusion_table,
    counts_words,
    figure_passages,
    runs_words,
    sizes_words,
    source_tables,
)
from heapwise.study.trees.row_commands import commands_table
from heapwise.wording.lists import counted
from heapwise.wording.names import plain_value, quantity_name
from heapwise.wording.numbers import percent

NOISY = 0.05
"""A difference that would be found only if it is larger than this makes an experiment noisy: no
"no difference" can be shown with it."""


def reproduced_page(
    view: View, found: Reproduced, *, has_experiments: bool = True, others: Sequence[View] = ()
) -> str:
    """Pictures lie in a folder of the report's name beside the page, and so do the pages of its
    experiments."""
    report, name = found.report, found.report.name
    lines = [
        f"# {report.title}",
        "",
        f"On {kind_of(view.run.machine)}, {view.run.machine.distribution}.",
        "",
        *markdown([Sentence(f"{report.origin.rstrip('.')}.", report.link)]),
        report.about,
        "",
        f"**{counted(len(found.conclusions), 'conclusion')}: {counts_words(found)}. "
        f"Sizes: {sizes_words(found)}.**",
        "",
        *_trust(view),
        *(
            line
            for words in (changes_words(found), author_words(found), runs_words(found))
            if words
            for line in ("", words)
        ),
        "",
        "## Conclusions",
        "",
        *markdown([conclusion_table(found)]),
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
            *markdown(figure_passages(each)),
        ]
        lines += [
            line
            for picture in report.pictures
            if picture.table == each.table.name
            for line in (f"![{picture.title}]({name}/{picture.name}.svg)", "")
        ]
    if found.programs:
        lines += [
            "## Commands, versions and builds",
            "",
            *markdown([commands_table(found.programs)]),
        ]
    lines += [
        "## Noise",
        "",
        *_noise(view, found, others, f"{name}/" if has_experiments else ""),
        "",
        "## Machines",
        "",
        *machine_table(view),
        "",
        *markdown(source_tables(report)),
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


def _noise(view: View, found: Reproduced, others: Sequence[View], folder: str) -> list[str]:
    """What each experiment could have shown, in the run that it is from."""
    least = {
        (each.run.id, one.experiment): one
        for each in (view, *others)
        for one in each.result.detectable
    }
    views = {each.run.id: each for each in (view, *others)}
    rows = []
    for experiment in view.run.experiments:
        run = found.run_of.get(experiment.id, view.run.id)
        known = least.get((run, experiment.id))
        words, verdict = "not known", "noise not known"
        if known and known.difference is not None:
            worst = f"; {percent(known.worst)} in {known.worst_cell}" if known.worst else ""
            words = f"{percent(known.difference)} in {quantity_name(known.quantity)}{worst}"
            verdict = "noisy" if known.difference > NOISY else ""
        name = f"[{experiment.id}]({folder}{experiment.id}.md)" if folder else experiment.id
        rows.append([name, str(rounds(views[run].evidence, experiment.id)), words, verdict])
    return table(
        ["experiment", "rounds", "a difference that would be found 4 times in 5", ""], rows
    )


def _how(view: View, found: Reproduced) -> list[str]:
    run = view.run
    built = built_words(run.revision, _hash_of_all(view))
    missing = dict.fromkeys(
        f"{spec.name}: {spec.reason}"
        for experiment in run.experiments
        for spec in experiment.subjects
        if not spec.available
    )
    lines = [
        f"Run {run.id} of {run.created[:10]}, Heapwise {run.version}, "
        f"{counted(rounds(view.evidence), 'round')} of processes in random order."
        f"{f' {built}' if built else ''}"
    ]
    lines += ["", "Not here:", "", *(f"- {words}" for words in missing)] if missing else []
    return [*lines, "", f"    {_command(view, found)}", "    heapwise reproduce --pages FOLDER"]


def _hash_of_all(view: View) -> str:
    """A hash of the hashes of all experiments; "" if one is not known."""
    hashes = [each.program_hash for each in view.run.experiments if not each.is_of_programs]
    if not hashes or "" in hashes:
        return ""
    return hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()[: len(hashes[0])]


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
