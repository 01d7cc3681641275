"""The page of a published report on one machine: its figures beside ours, its conclusions
judged."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence

from heapwise.analysis.across_runs.recorded_facts import rounds
from heapwise.document import (
    Code,
    Passage,
    Sentence,
    SentenceList,
    TextOrCell,
    TextTable,
    plain_table,
    table_cell,
    under,
)
from heapwise.document.markdown import markdown_page
from heapwise.report.pages.machine import built_words, kind_of, machine_table
from heapwise.report.view import View
from heapwise.study.reproduce.allocator_advice import advice, advice_by_allocator, programs_of
from heapwise.study.reproduce.reproduced import Reproduced
from heapwise.study.reproduce.tell import report_passages
from heapwise.wording.lists import counted
from heapwise.wording.names import plain_value, quantity_name
from heapwise.wording.numbers import percent

NOISY = 0.05
"""A difference that would be found only if it is larger than this makes an experiment noisy: no
"no difference" can be shown with it."""


ABOUT_ADVICE = "These sentences are computed from this run. They leave out what it does not show."
MADE_BY = "Made by `heapwise reproduce --pages FOLDER`; do not edit."


def reproduced_page(view: View, found: Reproduced, others: Sequence[View] = ()) -> str:
    """Pictures lie in a folder of the report's name beside the page, and so do the pages of its
    experiments."""
    report, name = found.report, found.report.name
    passages = [
        Sentence(f"On {kind_of(view.run.machine)}, {view.run.machine.distribution}."),
        *_trust(view),
        *report_passages(found, lambda one: Sentence(f"![{one.title}]({name}/{one.name}.svg)")),
        *under("Which allocator suits each program", _advice([view, *others], report.advice)),
        *under("Noise", [_noise(view, others, found)]),
        *under("The machine", [machine_table(view)]),
        *under("How it was measured", _how(view, found)),
    ]
    return markdown_page(report.title, passages, MADE_BY)


def _advice(views: Sequence[View], experiment: str) -> list[Passage]:
    """A sentence for each program of the experiment, and one for each allocator."""
    rows = [row for view in views for row in view.result.rows]
    programs = programs_of(rows, experiment) if experiment else {}
    passages: list[Passage] = []
    for name, each in programs.items():
        said = [f"{subject}: {words}" for subject, words in advice_by_allocator(each)]
        passages += [Sentence(f"**{name}**: {advice(each)}"), SentenceList(said)]
    return [Sentence(ABOUT_ADVICE), *passages] if passages else []


def _trust(view: View) -> list[Passage]:
    trust = view.result.trust
    smoke = "This was a smoke run: its figures mean nothing. " if view.run.plan.smoke else ""
    return [
        Sentence(f"{smoke}Trust: {trust.verdict}{':' if trust.objections else '.'}"),
        SentenceList([f"{check.id}: {check.detail}" for check in trust.objections]),
    ]


def _noise(view: View, others: Sequence[View], found: Reproduced) -> TextTable:
    """What each experiment could have shown, in the run that it is from."""
    views = {each.run.id: each for each in (view, *others)}
    least = {
        (run, one.experiment): one for run, each in views.items() for one in each.result.detectable
    }
    heads = ["experiment", "rounds", "a difference that would be found 4 times in 5", "noise"]
    rows: list[list[TextOrCell]] = []
    for experiment in view.run.experiments:
        run = found.run_of.get(experiment.id, view.run.id)
        known = least.get((run, experiment.id))
        words, verdict = "not known", "noise not known"
        if known and known.difference is not None:
            worst = f"; {percent(known.worst)} in {known.worst_cell}" if known.worst else ""
            words = f"{percent(known.difference)} in {quantity_name(known.quantity)}{worst}"
            verdict = "noisy" if known.difference > NOISY else ""
        link = f"{found.report.name}/{experiment.id}.md"
        count = str(rounds(views[run].evidence, experiment.id))
        rows.append([table_cell(experiment.id, link=link), count, words, verdict])
    return plain_table([heads, *rows])


def _how(view: View, found: Reproduced) -> list[Passage]:
    run = view.run
    built = built_words(run.revision, _hash_of_all(view))
    missing = dict.fromkeys(
        f"{spec.name}: {spec.reason}"
        for experiment in run.experiments
        for spec in experiment.subjects
        if not spec.available
    )
    words = (
        f"Run {run.id} of {run.created[:10]}, Heapwise {run.version}, "
        f"{counted(rounds(view.evidence), 'round')} of processes in random order. {built}"
    )
    return [
        Sentence(words.rstrip()),
        Sentence("Not here:" if missing else ""),
        SentenceList(list(missing)),
        Code(f"{_command(view, found)}\n    heapwise reproduce --pages FOLDER"),
    ]


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
