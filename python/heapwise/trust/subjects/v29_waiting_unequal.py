"""Does wall time say the same as processor time?

A program on one processor that needs more time needs more processor time, unless it waits. If other
programs interrupt one subject more often, as they do longer samples, its wall time grows and its
work does not. So the wall time for each second of processor time is compared between each subject
and the baseline. Programs that use several processors at once are left out.
If it warns: most of the difference is waiting. Look at the processor time, or at what it waits for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import expm1, log

from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.waiting import LEAST, LEVEL, MATTERS, TIMES, waits_of
from heapwise.model import Cell, Check
from heapwise.stats.basics.student import MeanInterval, mean_interval
from heapwise.stats.claims.holm import holm
from heapwise.trust.applies import Applies, programs
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import signed

ID, TITLE = "V29", "Wall and processor time agreed"

LEAST_ROUNDS = 6

Rows = dict[tuple[Cell, str, str], MeanInterval]
"""Cell of wall time, subject and baseline -> how much more the subject waits, as a logarithm."""


NO_ROUNDS = "There are no six rounds of a program on one processor with both times."


def _of_programs(evidence: Evidence) -> Check:
    rows: Rows = {}
    for wall, cpu, subject, base in _sides(evidence):
        waits = waits_of(evidence, wall, cpu, subject, base)
        if len(waits) >= LEAST_ROUNDS and (found := mean_interval(waits)):
            rows[wall, subject, base] = found
    if not rows:
        return Check(ID, TITLE, "unavailable", NO_ROUNDS)
    adjusted = holm([found.p_value for found in rows.values()])
    apart = [
        words
        for (row, found), p in zip(rows.items(), adjusted, strict=True)
        if p < LEVEL and (words := _words(evidence, *row, found.mean))
    ]
    figures = {subject: found.mean for (_, subject, _), found in rows.items()}
    if apart:
        words = (
            f"Most of a difference in time is waiting, and not work: {listed(apart)}. Processor "
            "time says how much work there was."
        )
        return Check(ID, TITLE, "warn", words, {"waits": figures})
    words = f"Differences in time are those of processor time in {counted(len(rows), 'row')}."
    return Check(ID, TITLE, "pass", words, {"waits": figures})


def _sides(evidence: Evidence) -> Iterator[tuple[Cell, Cell, str, str]]:
    """The sides of comparisons: both cells of a subject and its baseline, controls aside."""
    for wall in evidence.table:
        cpu, base = replace(wall, quantity=TIMES[1]), evidence.baselines[wall.experiment]
        if wall.quantity != TIMES[0] or cpu not in evidence.table:
            continue
        both = evidence.table[wall].keys() & evidence.table[cpu].keys()
        for subject in evidence.table[wall]:
            if {subject, base} <= both and subject not in evidence.labels:
                yield wall, cpu, subject, base


def _words(evidence: Evidence, wall: Cell, subject: str, base: str, waits: float) -> str:
    """``new +12.0 % time, of which +11.5 % is waiting``; "" if the time does not differ for certain
    or most of the difference is work."""
    ratio, _ = comparisons_of(evidence).ratio((wall, subject), (wall, base))
    if ratio is None or ratio.strict is None or ratio.strict[0] <= 1 <= ratio.strict[1]:
        return ""
    if abs(waits) < max(LEAST, MATTERS * abs(log(ratio.ratio))):
        return ""
    return (
        f"{subject} {signed(ratio.ratio)} % time, of which waiting is {signed(1 + expm1(waits))} %"
    )


check = Applies(ID, TITLE, programs, _of_programs, others=NO_ROUNDS)
