"""One campaign, judged: what the rows of the project's own analysis say of a known truth.

``make_rows(Evidence(...))`` is the whole way to a verdict: the rules that take samples out, the
medians of the repeats, the pairs of rounds, the ratio with its interval, the widening for dependent
rounds, the noise floor, and the word. ``analyse`` calls exactly this for its rows, and adds what
reads them and cannot change them: checks of trust, advice, headlines and goals. A test lets some
campaigns go through the store and ``analyse`` and compares the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

import numpy as np

from heapwise.analysis.gate import gate_result
from heapwise.analysis.summary.advice import winner_of
from heapwise.analysis.summary.detectable import detectable
from heapwise.analysis.summary.pool_advice import pool_advice
from heapwise.analysis.verdicts.rows import make_rows, ranked
from heapwise.evidence import Evidence
from heapwise.evidence.earlier_runs import scores_of
from heapwise.evidence.judged_limits import next_look_of
from heapwise.model import Calibration, GateResult, Process, Row, Setup, Trust
from heapwise.runner.campaign.precision import LOOK_AGAIN, settled, widest_half_width
from heapwise.stats.ratios.calibration_factor import calibration_factor
from heapwise.store import StoredRun
from simulation.count import Count, count
from simulation.run import stored_run, subject_names
from simulation.scenario import Campaign, Promise, Question

Random = np.random.Generator

LEAST, PRECISION = 6, 0.005
"""Rounds before a comparison looks for the first time, and its ``--precision``."""


def ask(promise: Promise, campaigns: int, seed: str) -> Count:
    """The same campaigns for the same ``seed``, whatever their number.

    Gates are judged by ``gate_result``, the same way that ``heapwise gate`` judges them.
    """
    answer = ANSWERS[promise.question]
    return count(
        [
            answer(promise.campaign, np.random.default_rng([crc32(seed.encode()), number]))
            for number in range(campaigns)
        ]
    )


def rows_of(campaign: Campaign, random: Random) -> list[Row]:
    """One for each subject, in the order of the effects."""
    stored = stored_run(campaign, random)
    if campaign.earlier:
        known = calibration(replace(campaign, earlier=0), campaign.earlier, random)
        stored = replace(stored, run=replace(stored.run, calibration=known))
    rows = {row.subject: row for row in make_rows(Evidence(stored))}
    return [rows[name] for name in subject_names(campaign)]


def calibration(campaign: Campaign, runs: int, random: Random) -> dict[str, Calibration]:
    """What as many such runs say of their machine. They need no more than one subject."""
    alike = replace(campaign, effects=campaign.effects[:1])
    found = [scores_of(stored_run(alike, random)) for _ in range(runs)]
    return {
        quantity: Calibration(runs, calibration_factor([one[quantity] for one in found]))
        for quantity in found[0]
    }


def _different(campaign: Campaign, random: Random) -> list[bool]:
    return [row.verdict in ("better", "worse") for row in rows_of(campaign, random)]


def _decided(campaign: Campaign, random: Random) -> list[bool]:
    return [row.verdict != "cannot tell" for row in rows_of(campaign, random)]


def _covered(campaign: Campaign, random: Random) -> list[bool]:
    rows = rows_of(campaign, random)
    return [_holds(row, effect) for row, effect in zip(rows, campaign.effects, strict=True)]


def _found(campaign: Campaign, random: Random) -> list[bool]:
    rows = rows_of(campaign, random)
    return [
        row.verdict == ("worse" if effect > 0 else "better")
        for row, effect in zip(rows, campaign.effects, strict=True)
    ]


def _found_as_printed(campaign: Campaign, random: Random) -> list[bool]:
    """The first campaign prints the difference, the second has it."""
    (said,) = detectable(Evidence(stored_run(campaign, random)))
    if said.difference is None:
        raise ValueError(f"no difference was printed: {said.note}")
    return _found(replace(campaign, effects=(said.difference,)), random)


def _lead_exceeds(campaign: Campaign, random: Random) -> list[bool]:
    """Nothing, if the advice names nobody."""
    evidence = Evidence(stored_run(campaign, random))
    winner = winner_of(evidence, list(ranked(evidence, make_rows(evidence))))
    if winner is None:
        return []
    effects = dict(zip(subject_names(campaign), campaign.effects, strict=True))
    return [winner.ratio < 1 + effects[winner.subject]]


def gate_of(campaign: Campaign, random: Random) -> GateResult:
    """As a gate measures: it looks when a look is due, and ends when its metric is decided."""
    whole = stored_run(campaign, random)
    rounds = 0
    while rounds < campaign.rounds:
        due = next_look_of(Evidence(_first(whole, rounds)))
        if due is None:
            break
        rounds = min(due, campaign.rounds)
    found = gate_result(Evidence(_first(whole, rounds)), Trust("good", []))
    assert found is not None
    return found


def race_of(campaign: Campaign, random: Random) -> list[Row]:
    """As a comparison of a given time measures: as many processes as ``rounds`` whole rounds have,
    of which rows that are settled take no more. The rows in the order of the effects."""
    most = campaign.rounds * (len(campaign.effects) + 2)
    whole = stored_run(replace(campaign, rounds=most // 3), random)
    kept: list[Process] = []
    left_out: set[tuple[Setup, str]] = set()
    look_at = float(LEAST)
    for round_ in range(most // 3):
        if round_ >= look_at:
            evidence = Evidence(_only(whole, kept))
            left_out = settled(evidence)
            if (widest_half_width(evidence) or 1.0) <= PRECISION:
                break
            look_at = round_ * LOOK_AGAIN
        kept += [
            process
            for process in whole.processes
            if process.round == round_ and (process.setup, process.subject) not in left_out
        ][: most - len(kept)]
        if len(kept) == most:
            break
    rows = {row.subject: row for row in make_rows(Evidence(_only(whole, kept)))}
    return [rows[name] for name in subject_names(campaign)]


def _only(whole: StoredRun, processes: list[Process]) -> StoredRun:
    numbers = {process.number for process in processes}
    samples = [sample for sample in whole.samples if sample.process in numbers]
    return replace(whole, processes=list(processes), samples=samples)


def _race_finds(campaign: Campaign, random: Random) -> list[bool]:
    """Whether the first subject is called as it is."""
    word = "worse" if campaign.effects[0] > 0 else "better"
    return [race_of(campaign, random)[0].verdict == word]


def _race_differs(campaign: Campaign, random: Random) -> list[bool]:
    """Whether each subject that is like the baseline is called different."""
    rows = zip(race_of(campaign, random), campaign.effects, strict=True)
    return [row.verdict in ("better", "worse") for row, effect in rows if effect == 0]


def _first(whole: StoredRun, rounds: int) -> StoredRun:
    return replace(
        whole,
        processes=[p for p in whole.processes if p.round < rounds],
        samples=[s for s in whole.samples if s.round < rounds],
    )


def _gate_fails(campaign: Campaign, random: Random) -> list[bool]:
    return [gate_of(campaign, random).verdict == "regressed"]


def _gate_finds(campaign: Campaign, random: Random) -> list[bool]:
    """The first campaign tells the noise floor of the machine."""
    [row] = gate_of(replace(campaign, effects=(0.0,)), random).rows
    effect = (campaign.limit or 0.0) + 2 * (row.noise or 0.0)
    return _gate_fails(replace(campaign, effects=(effect,)), random)


def _advised(campaign: Campaign, random: Random) -> list[str]:
    """Subjects that the advice says to gain, the first one first."""
    evidence = Evidence(stored_run(campaign, random))
    words, lines = pool_advice(evidence, make_rows(evidence))
    gains = int(words.split()[0]) if words[0].isdigit() else 0
    names = [line.partition(":")[0] for line in lines if not line.startswith(" ")]
    return names[:gains]


def _advised_in_vain(campaign: Campaign, random: Random) -> list[bool]:
    effects = dict(zip(subject_names(campaign), campaign.effects, strict=True))
    return [any(effects[name] >= 0 for name in _advised(campaign, random))]


def _advised_first(campaign: Campaign, random: Random) -> list[bool]:
    best = int(np.argmin(campaign.effects))
    return [_advised(campaign, random)[:1] == [subject_names(campaign)[best]]]


def _holds(row: Row, effect: float) -> bool:
    return (
        row.ratio_low is not None
        and row.ratio_high is not None
        and (row.ratio_low <= 1 + effect <= row.ratio_high)
    )


ANSWERS: dict[Question, Callable[[Campaign, Random], list[bool]]] = {
    "different": _different,
    "decided": _decided,
    "covered": _covered,
    "found": _found,
    "found as printed": _found_as_printed,
    "lead exceeds": _lead_exceeds,
    "race finds": _race_finds,
    "race differs": _race_differs,
    "gate fails": _gate_fails,
    "gate finds": _gate_finds,
    "advised in vain": _advised_in_vain,
    "advised first": _advised_first,
}
"""Question -> the answers of one random campaign, one for each row that it is asked of."""
