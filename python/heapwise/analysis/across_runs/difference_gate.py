"""Limits of what a second stored run may need more than a first one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from statistics import median

from heapwise.analysis.across_runs.difference import WHICH, obstacles
from heapwise.analysis.gate import NAMES, PLURAL, UNITS, exit_code, worst
from heapwise.analysis.verdicts.rows import NOT_FINISHED, outcome_of
from heapwise.evidence import Evidence
from heapwise.evidence.judged_limits import COUNTED, TIMED, counts_of
from heapwise.model import (
    Cell,
    Difference,
    DifferenceRow,
    GateResult,
    GateRow,
    GateVerdict,
    control_name,
)
from heapwise.stats.claims.limits import COUNTS
from heapwise.wording.lists import listed
from heapwise.wording.names import cell_words
from heapwise.wording.numbers import percent
from heapwise.wording.ratios import signed_ends


def difference_gate(
    found: Difference,
    runs: tuple[Evidence, Evidence],
    limits: Mapping[str, float],
    *,
    strict: bool,
) -> GateResult:
    """A row for each limit and each subject of either run."""
    rows: list[GateRow] = []
    for metric, limit in limits.items():
        of_rounds = [
            _of_rounds(found, row, metric, limit)
            for row in found.rows
            if row.cell.quantity == TIMED.get(metric)
        ]
        of_rounds += [
            _lost(metric, limit, _named(lost.subject, lost.cell), lost.why)
            for lost in found.lost
            if lost.cell.quantity == TIMED.get(metric)
        ]
        counted = _counted(obstacles(*runs), runs, metric, limit) if metric in COUNTED else []
        rows += of_rounds or counted or [_missing(metric, limit)]
    program = PurePath(runs[1].stored.run.plan.command[0]).name
    return GateResult(
        found.first,
        found.second,
        worst(rows),
        exit_code(rows, strict=strict),
        rows,
        found.second,
        program=program,
    )


def _missing(metric: str, limit: float) -> GateRow:
    sentence = f"{NAMES[metric]} cannot be told: both runs have no figures of it."
    return GateRow(
        metric, UNITS.get(metric, "count"), limit, False, "cannot tell", sentence, impossible=True
    )


def _lost(metric: str, limit: float, subject: str, why: str) -> GateRow:
    return replace(
        _missing(metric, limit),
        sentence=f"{NAMES[metric]} of {subject} cannot be told: {why}.",
        subject=subject,
    )


def _named(subject: str, cell: Cell) -> str:
    return ", ".join(part for part in (subject, cell_words(cell.parameters)) if part)


def _of_rounds(found: Difference, row: DifferenceRow, metric: str, limit: float) -> GateRow:
    subject = _named(row.subject, row.cell)
    verdict: GateVerdict = "cannot tell"
    if row.least is not None and row.least > 1 + limit:
        verdict = "regressed"
    elif row.high is not None and row.high <= 1 + limit:
        verdict = "fine"
    name = f"{NAMES[metric]} of {subject}"
    known = row.low is not None and row.high is not None
    if found.reasons:
        words = f"{name} cannot be told: {listed(found.reasons, 9)}"
    elif row.note:
        words = f"{name} cannot be told: {row.note}"
    elif not known:
        words = f"{name} cannot be told: two runs do not tell how much runs differ"
    else:
        ends = signed_ends(row.low or 1.0, row.high or 1.0)
        told = {"regressed": "regressed", "fine": _fine(metric), "cannot tell": "cannot be told"}
        to = f", relative to {row.relative_to}" if row.relative_to else ""
        words = f"{name} {told[verdict]}: {ends} (95 % CI{to}), limit {percent(limit)}"
    return GateRow(
        metric,
        row.unit,
        limit,
        False,
        verdict,
        f"{words}.",
        row.first,
        row.second,
        None if row.ratio is None else row.ratio - 1,
        None if row.low is None else row.low - 1,
        None if row.high is None else row.high - 1,
        too_noisy=not known,
        subject=subject,
    )


def _counted(
    reasons: list[str], runs: tuple[Evidence, Evidence], metric: str, limit: float
) -> list[GateRow]:
    """Counts depend on the program, its path and its arguments, and not on the day. A run whose
    times are not trustworthy may have good ones."""
    controls = {name for each in runs for name in each.control_names}
    every = [
        subject.name
        for each in runs
        for subject in each.stored.run.plan.subjects
        if not subject.control
    ]
    rows = []
    for subject in dict.fromkeys(every):
        names = {subject, *({control_name(subject)} & controls)}
        before, after = (counts_of(each, names, metric) for each in runs)
        if why := _uncounted(reasons, runs, subject, (before, after)):
            rows.append(_lost(metric, limit, subject, why))
        elif before and after:
            rows.append(_count_row(reasons, metric, limit, subject, (before, after)))
    return rows


def _uncounted(
    reasons: list[str],
    runs: tuple[Evidence, Evidence],
    subject: str,
    counts: tuple[list[int], list[int]],
) -> str:
    """Why counts of both runs say nothing: the subject failed, or one run has none. "" if they
    do, or if neither run has any."""
    if reasons or not any(counts):
        return ""
    for which, each in zip(WHICH, runs, strict=True):
        for setup in each.tried:
            status, words = outcome_of(each, setup, [subject])
            if status in NOT_FINISHED:
                return f"{subject} {words} in the {which} run"
    if all(counts):
        return ""
    return f"the {WHICH[bool(counts[0])]} run has no such count of {subject}"


def _count_row(
    reasons: list[str],
    metric: str,
    limit: float,
    subject: str,
    counts: tuple[list[int], list[int]],
) -> GateRow:
    base, new = (float(median(each)) for each in counts)
    name = f"{NAMES[metric]} of {subject}"
    twice = min(map(len, counts)) >= COUNTS
    exact = all(len({*each}) == 1 for each in counts)
    verdict: GateVerdict = "cannot tell"
    if reasons:
        words = f"{name} cannot be told: {listed(reasons, 9)}"
    elif not twice or not exact:
        why = "runs of one program differ" if twice else "they were counted once in a run"
        words = f"{name} cannot be told: {base:,.0f} and {new:,.0f}, but {why}"
    else:
        verdict = "fine" if new <= base * (1 + limit) else "regressed"
        told = _fine(metric) if verdict == "fine" else "regressed"
        words = f"{name} {told}: {new:,.0f} instead of {base:,.0f}, exact, limit {percent(limit)}"
    return GateRow(
        metric,
        UNITS.get(metric, "count"),
        limit,
        exact and twice,
        verdict,
        f"{words}.",
        base,
        new,
        new / base - 1 if base else None,
        impossible=bool(reasons),
        subject=subject,
    )


def _fine(metric: str) -> str:
    return "are fine" if metric in PLURAL else "is fine"
