"""Did the processor keep its speed?

Clock rates change with heat and load. A fixed chain of instructions is timed before and after each
sample. If its time changed by more than 2 %, the sample is discarded and counted. If the clock is
lower whenever one subject runs, nothing changes within a sample, so the chain is also compared
between subjects.
If it warns: too many samples changed, so none was discarded, or a subject ran at another clock
rate than the baseline. Close other programs, and fix the frequency if you can.
"""

from __future__ import annotations

import numpy as np

from heapwise.evidence import Evidence
from heapwise.evidence.kept import MANY, SPIN_CHANGE, TOO_MANY, Candidate
from heapwise.model import Check, Setup
from heapwise.stats.basics.student import mean_interval
from heapwise.stats.claims.holm import holm
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import percent

ID, TITLE = "V12", "The processor kept its speed"

SURE = 0.01


def check(evidence: Evidence) -> Check:
    changes = [c for candidate in evidence.candidates if (c := candidate.spin_change()) is not None]
    if not changes:
        return Check(ID, TITLE, "unavailable", "No spin was timed before and after the samples.")
    result = evidence.filtered
    struck, removed, spared = result.struck[ID], result.removed[ID], result.spared[ID]
    other = other_clocks(evidence)
    figures = {
        "samples": len(changes),
        "struck": struck,
        "discarded": removed,
        "median_change": float(np.median(changes)),
        "largest_change": max(changes),
        "other_clocks": other,
    }
    words = (
        f"A calibrated spin before and after each of {counted(len(changes), 'sample')} "
        f"changed by {percent(float(np.median(changes)))} in the median"
    )
    if other:
        which = listed(f"{name} {change:+.0%}" for name, change in other.items())
        return Check(
            ID,
            TITLE,
            "warn",
            "The spin beside a subject took another time than beside "
            f"the baseline: {which}. Its times are those of another clock.",
            figures,
        )
    if struck > TOO_MANY * result.total or ID in result.joint:
        several = " together with those of other rules" if ID in result.joint else ""
        return Check(
            ID,
            TITLE,
            "warn",
            f"{words}, and by more than {percent(SPIN_CHANGE)} in "
            f"{struck}:{several} too many to be exceptions, so none was discarded and the "
            "intervals carry it.",
            figures,
        )
    if removed:
        words += (
            f"; {counted(removed, 'sample')} with more than {percent(SPIN_CHANGE)} "
            "discarded, as the rule says"
        )
    if spared:
        words += (
            f"; in {counted(spared, 'cell')} none would have been left, so the disturbed "
            "samples count there"
        )
    if removed or spared:
        many = removed > MANY * result.total
        return Check(ID, TITLE, "warn" if spared or many else "pass", f"{words}.", figures)
    return Check(ID, TITLE, "pass", f"{words}, never by more than {percent(SPIN_CHANGE)}.", figures)


def _spin(candidate: Candidate) -> float | None:
    """Nanoseconds; the smaller of the sample's own two, else of the process's."""
    for facts in (candidate.sample.facts, candidate.process.facts):
        before, after = facts.spin_before_ns or 0, facts.spin_after_ns or 0
        if before > 0 and after > 0:
            return float(min(before, after))
    return None


def other_clocks(evidence: Evidence) -> dict[str, float]:
    """Subject -> how much longer the spin took beside it than beside the baseline of its round, in
    the mean of the rounds. Only those where it is certain and more than ``SPIN_CHANGE``."""
    names = set(evidence.baselines.values()) | set(evidence.controls.values())
    spins: dict[tuple[Setup, int], dict[str, list[float]]] = {}
    for candidate in evidence.candidates:
        if spin := _spin(candidate):
            sample = candidate.sample
            of_round = spins.setdefault((candidate.setup, sample.round), {})
            subject = "" if sample.subject in names else sample.subject
            of_round.setdefault(subject, []).append(float(np.log(spin)))
    rounds: dict[str, dict[int, list[float]]] = {}
    for (_, number), of_round in spins.items():
        for subject, logs in of_round.items():
            if subject and "" in of_round:
                rounds.setdefault(subject, {}).setdefault(number, []).append(
                    float(np.median(logs) - np.median(of_round[""]))
                )
    found = {
        subject: mean_interval([float(np.mean(logs)) for logs in of_subject.values()])
        for subject, of_subject in rounds.items()
    }
    tested = {subject: interval for subject, interval in found.items() if interval}
    certain = holm([interval.p_value for interval in tested.values()])
    return {
        subject: float(np.expm1(interval.mean))
        for (subject, interval), p in zip(tested.items(), certain, strict=True)
        if p < SURE and abs(np.expm1(interval.mean)) > SPIN_CHANGE
    }
