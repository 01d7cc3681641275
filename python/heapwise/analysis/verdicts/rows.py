"""Every subject x cell x quantity, measured or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from heapwise.analysis.verdicts.published_figures import published_value
from heapwise.analysis.verdicts.rare_words import kinds_words, rare_of, rare_words, value_words
from heapwise.analysis.verdicts.verdict import doubt, judge, least_of
from heapwise.evidence import Evidence, comparisons_of, ranking_of
from heapwise.evidence.endings import other_ending
from heapwise.evidence.failures_beside import failed_beside, ran_beside
from heapwise.evidence.fixed_time import fixed_time
from heapwise.evidence.gate_memory import unlike_peak_words
from heapwise.evidence.predecessor import predecessor_words
from heapwise.evidence.series import baseline_of
from heapwise.evidence.sessions import session_words, sessions_of
from heapwise.evidence.under_load import ends_alone
from heapwise.model import PROGRAM, Cell, Experiment, Process, Quantity, Row, Settings, Setup
from heapwise.stats.basics.summary import summarise
from heapwise.stats.series.center import location_interval
from heapwise.wording.lists import counted
from heapwise.wording.names import spaced
from heapwise.wording.numbers import TIME_UNITS
from heapwise.wording.ratios import signed_ends

CONTROL_NOTE = "the baseline under a second name (A/A); never ranked"

FIGURES = (
    "min",
    "median",
    "mean",
    "max",
    "stddev",
    "ci_low",
    "ci_high",
    "ratio",
    "ratio_low",
    "ratio_high",
)
NOTHING: dict[str, Any] = dict.fromkeys(FIGURES)
LOST = "no sample was kept: V12, V13 and V26 say how many were discarded, and why"
ONLY_BESIDE = "measured side by side only"
NOT_FINISHED = ("crashed", "failed", "timed_out", "output_differs", "wrong_allocator", "refused")


def make_rows(evidence: Evidence) -> list[Row]:
    """In the order of the experiments, their cells, their quantities and the plan's subjects."""
    order = {name: place for place, name in enumerate(evidence.subjects)}
    rows: list[Row] = []
    for experiment in evidence.stored.run.experiments:
        cells = [(p, tried) for (name, p), tried in evidence.tried.items() if name == experiment.id]
        for parameters, by_subject in sorted(cells, key=lambda c: cell_place(experiment, c[0])):
            names = sorted(by_subject, key=lambda s: order.get(s, len(order)))
            for quantity in experiment.quantities:
                cell = Cell(experiment.id, parameters, quantity.name)
                rows += [
                    _row(evidence, experiment, quantity, cell, subject, by_subject[subject])
                    for subject in names
                    if _belongs(evidence, cell, subject)
                    or (quantity == experiment.quantities[0] and _only_beside(by_subject[subject]))
                ]
                if quantity == experiment.quantities[0]:
                    rows += _missing(experiment, quantity, cell)
        rows += _not_run(experiment)
    return rows


def _missing(experiment: Experiment, quantity: Quantity, cell: Cell) -> list[Row]:
    """Subjects that are not on this machine: the note says how to get them."""
    return [
        Row(
            subject=spec.name,
            cell=cell,
            unit=quantity.unit,
            better=quantity.better,
            n=0,
            **NOTHING,
            status="missing",
            note=spec.reason,
            published_value=published_value(experiment, spec.name, cell),
        )
        for spec in experiment.subjects
        if not spec.available
    ]


def _not_run(experiment: Experiment) -> list[Row]:
    """Programs that are not on this machine, or that preloading cannot reach."""
    quantity = experiment.quantities[0]
    return [
        Row(
            subject=experiment.baseline,
            cell=Cell(experiment.id, Settings({PROGRAM: program.name}), quantity.name),
            unit=quantity.unit,
            better=quantity.better,
            n=0,
            **NOTHING,
            status=program.status,
            note=program.reason,
        )
        for program in experiment.programs
        if program.status
    ]


def cell_place(experiment: Experiment, parameters: Settings) -> list[tuple[float, str]]:
    """Numbers by size, words as the experiment lists them; the first parameter counts most."""
    found = []
    for parameter in experiment.parameters:
        value = parameters.get(parameter.name)
        if isinstance(value, int | float):
            found.append((float(value), ""))
        else:
            known = [*parameter.default, *parameter.smoke]
            found.append((known.index(value) if value in known else len(known), str(value)))
    return found


def place(experiment: Experiment, cell: Cell) -> tuple[list[tuple[float, str]], int]:
    names = [quantity.name for quantity in experiment.quantities]
    known = names.index(cell.quantity) if cell.quantity in names else len(names)
    return cell_place(experiment, cell.parameters), known


def _belongs(evidence: Evidence, cell: Cell, subject: str) -> bool:
    """Not a quantity that this experiment yields in other cells or of other subjects only."""
    measured_at_all = any(
        c.setup == cell.setup and subject in evidence.table[c]
        for c in evidence.cells[cell.experiment]
    )
    return subject in evidence.table.get(cell, {}) or not measured_at_all


def _only_beside(processes: list[Process]) -> bool:
    """Whether none of them ran by itself."""
    return all(process.facts.beside is not None for process in processes)


def _row(
    evidence: Evidence,
    experiment: Experiment,
    quantity: Quantity,
    cell: Cell,
    subject: str,
    processes: list[Process],
) -> Row:
    series = evidence.table.get(cell, {}).get(subject)
    status, trouble = outcome_of(evidence, cell.setup, [subject])
    base = baseline_of(evidence.stored, experiment)
    published = published_value(experiment, subject, cell)
    if series is None:
        trouble = trouble or (ONLY_BESIDE if _only_beside(processes) else LOST)
        return Row(
            subject=subject,
            cell=cell,
            unit=quantity.unit,
            better=quantity.better,
            n=0,
            **NOTHING,
            baseline=subject == base,
            status=status,
            note=trouble,
            published_value=published,
        )
    summary = summarise(series.values)
    interval = location_interval(
        list(series.rounds.values()), step=comparisons_of(evidence).step(cell, subject)
    )
    facts = _comparison(evidence, quantity, cell, subject, base, status)
    notes = [trouble, *facts.pop("notes"), interval.note, kinds_words(series, quantity.unit)]
    return Row(
        subject,
        cell,
        quantity.unit,
        quantity.better,
        summary.n,
        summary.min,
        summary.median,
        summary.mean,
        summary.max,
        summary.stddev,
        interval.low,
        interval.high,
        status=status,
        values=list(series.values),
        note="; ".join(dict.fromkeys(n for n in notes if n)),
        published_value=published,
        **facts,
    )


def _comparison(
    evidence: Evidence, quantity: Quantity, cell: Cell, subject: str, base: str, status: str
) -> dict[str, Any]:
    row = evidence.table[cell]
    nothing: dict[str, Any] = {"ratio": None, "ratio_low": None, "ratio_high": None}
    if subject == base:
        return nothing | {"baseline": True, "verdict": "baseline", "notes": []}
    if base not in row:
        missing = f"the baseline {base} was not measured"
        return nothing | {"verdict": "cannot tell", "notes": [missing]}
    ratio, note = comparisons_of(evidence).ratio((cell, subject), (cell, base))
    floor = comparisons_of(evidence).floors.get(cell)
    least = least_of(evidence, ((cell, subject), (cell, base)), ratio)
    word: str = judge(ratio, quantity.better, floor, least)
    claim = comparisons_of(evidence).claims.get((cell, subject))
    notes = [note]
    if subject in evidence.subjects and evidence.subjects[subject].control:
        notes.append(CONTROL_NOTE)
    elif claim and word in ("better", "worse") and not claim.survives:
        notes.append(f"would not survive {claim.comparisons} comparisons at once (Holm)")
    elif word == "cannot tell" and claim and claim.drift is not None:
        notes.append(f"its rounds depend on the rounds before them (correlation {claim.drift:.2f})")
    elif word == "cannot tell":
        notes.append(doubt(ratio, floor, least))
    if against := objections(evidence, cell, subject, base):
        notes += against
    if alone := ends_alone(evidence, cell, subject, base):
        notes.append(f"alone {signed_ends(*alone)}: it depends on what runs beside it")
    if status != "ok" or against:
        word = "cannot tell"
    if same := objections_to_sameness(evidence, cell, subject, base, word):
        notes += same
        word = "cannot tell" if word == "no difference" else word
    if ratio is not None:
        nothing = {"ratio": ratio.ratio, "ratio_low": ratio.low, "ratio_high": ratio.high}
    return nothing | {"verdict": word, "notes": notes}


def objections(evidence: Evidence, cell: Cell, subject: str, other: str) -> list[str]:
    """Why a difference of two subjects of a cell is not claimed, whatever its interval."""
    slowed = [name for name in (subject, other) if evidence.planted(cell, name)]
    ended = other_ending(evidence, cell.setup, subject, other)
    found = [
        f"{' and '.join(slowed)} slowed down on purpose: never ranked" if slowed else "",
        f"{ended}: it may do other work" if ended else "",
        trouble_of_label(evidence, cell, other),
        unlike_peak_words(evidence, cell, subject, other),
        predecessor_words(evidence, cell, subject, other),
        session_words(
            comparisons_of(evidence).pairs((cell, subject), (cell, other)),
            evidence.once(sessions_of),
        ),
    ]
    return [words for words in found if words]


def objections_to_sameness(
    evidence: Evidence, cell: Cell, subject: str, other: str, word: str
) -> list[str]:
    """Why two subjects of a cell are not called the same. word: the verdict without it."""
    found = []
    if rare := rare_of(evidence, cell, subject, other):
        found.append(rare_words(rare, subject, other, value_words(evidence, cell)))
        word = "cannot tell" if word == "no difference" else word
    quantity = evidence.quantities[(cell.experiment, cell.quantity)]
    if (
        word == "no difference"
        and (quantity.unit in TIME_UNITS or quantity.relative)
        and (why := fixed_time(evidence, cell.setup))
    ):
        found.append(f"it may run for a fixed time: {why}")
    return found


def trouble_of_label(evidence: Evidence, cell: Cell, name: str) -> str:
    """How often a subject failed in the setup, in words; a baseline under both its names. Its other
    processes may be of another kind, as the slow ones of a program with a time limit fail."""
    tried = evidence.tried.get(cell.setup, {})
    is_base = name == evidence.baselines.get(cell.experiment)
    control = evidence.controls.get(cell.experiment, "") if is_base else ""
    labels = [label for label in (name, control) if label in tried]
    status, words = outcome_of(evidence, cell.setup, labels)
    return f"{name} {words}" if status in NOT_FINISHED else ""


def outcome_of(evidence: Evidence, setup: Setup, subjects: Iterable[str]) -> tuple[str, str]:
    """Status and words of all processes of the subjects in a setup, those side by side included:
    ``failed``, ``failed in 2 of 20 groups side by side: exit code 3 instead of 0``."""
    names = list(subjects)
    tried = evidence.tried.get(setup, {})
    status, words = outcome([process for name in names for process in tried.get(name, [])])
    failed = failed_beside(evidence, setup, names)
    if not failed:
        return status, words
    number = f"{len(failed)} of {counted(ran_beside(evidence, setup, names), 'group')}"
    first = failed[0]
    beside = f"failed in {number} side by side: {first.reason}"
    if status in NOT_FINISHED:
        return status, f"{words}; {beside}"
    return first.status, beside


def outcome(processes: list[Process]) -> tuple[str, str]:
    """Status and words: ``crashed``, ``crashed (SIGSEGV) 3 of 3``."""
    ended = [p for p in processes if p.status not in ("interrupted", "discarded")]
    counts = Counter(p.status for p in ended if p.status in NOT_FINISHED)
    if not counts:
        if not processes or any(p.status == "ok" for p in processes):
            return "ok", ""
        return processes[-1].status, processes[-1].reason or "no process came to its end"
    status, number = counts.most_common(1)[0]
    example = next(p for p in ended if p.status == status)
    if status == "crashed" and example.reason.startswith("crashed ("):
        return status, f"{example.reason} {number} of {len(ended)}"
    reason = f": {example.reason}" if example.reason else ""
    return status, f"{spaced(status)} {number} of {len(ended)}{reason}"


def ranked(evidence: Evidence, rows: list[Row]) -> Iterator[Row]:
    """Rows that may be first or last: measured to the end as it is, by no control and by no
    heap that the compiler put into the program beside libraries."""
    aside = ranking_of(evidence).never_ranked
    for row in rows:
        if (
            row.median is not None
            and row.status == "ok"
            and (row.subject not in aside[row.cell.experiment])
            and (not ranking_of(evidence).is_aside(row.cell, row.subject))
            and (not evidence.planted(row.cell, row.subject))
        ):
            yield row
