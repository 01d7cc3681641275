"""What counts say of a subject whose time cannot be told: what changed, and not how long it takes.

No verdict on time uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapwise.analysis.verdicts.verdict import judge
from heapwise.evidence import Evidence
from heapwise.evidence.second_counts import CountPair, count_pairs, instruction_pairs
from heapwise.model import Row
from heapwise.stats.ratios.noise import noise_floor
from heapwise.wording.lists import listed
from heapwise.wording.names import quantity_name, spaced
from heapwise.wording.numbers import change
from heapwise.wording.ratios import (
    difference_ends,
    difference_words,
    interval,
    relation,
    with_interval,
)

NAMED = 3
"""Subjects that the sentence names."""

NAMES = {"allocations": "calls of malloc"}

FAULTS = ("minor_faults", "major_faults")

CAVEAT = "Counts say what changed, not how long it takes."


@dataclass(frozen=True)
class _Opinion:
    """words: the difference, "" if there is none."""

    name: str
    words: str


def second_opinion(evidence: Evidence, rows: Sequence[Row], undecided: Sequence[Row]) -> str:
    """``By counts, new against old: calls of malloc 10.0 % more (1,100, not 1,000). ...``; "" if
    nothing was counted in both. undecided: rows of time, of one cell. rows: all of that cell."""
    said = []
    for row in undecided:
        base = evidence.baselines.get(row.experiment, "")
        if words := _words(_opinions(evidence, rows, row, base)):
            said.append(f"{row.subject} against {base}: {words}")
    if not said:
        return ""
    return f"By counts, {'; '.join(said[:NAMED])}. {CAVEAT}"


def _words(found: list[_Opinion]) -> str:
    differing = [f"{each.name} {each.words}" for each in found if each.words]
    if differing:
        return listed(differing, len(differing))
    same = [each.name for each in found]
    return f"no difference in {listed(same, len(same))}" if same else ""


def _opinions(evidence: Evidence, rows: Sequence[Row], row: Row, base: str) -> list[_Opinion]:
    return [
        *_calls(evidence, row, base),
        *_instructions(evidence, row, base),
        *(
            _Opinion(quantity_name(each.quantity), _of_row(each))
            for each in rows
            if each.subject == row.subject
            and each.quantity in FAULTS
            and each.verdict in ("better", "worse", "no difference")
        ),
    ]


def _of_row(row: Row) -> str:
    return "" if row.verdict == "no difference" else with_interval(relation(row), interval(row))


def _calls(evidence: Evidence, row: Row, base: str) -> list[_Opinion]:
    labels = (base, evidence.controls.get(row.experiment, ""))
    return [
        _Opinion(NAMES.get(each.metric, spaced(each.metric)), _of_counts(each))
        for each in count_pairs(evidence.stored, row.cell.setup, labels, row.subject)
    ]


def _of_counts(each: CountPair) -> str:
    if not each.differs:
        return ""
    both = f"{each.new:,}, not {each.base:,}"
    # A count that is or was 0 has no factor.
    if not each.base or not each.new:
        return both
    return f"{change(each.new / each.base, 'more', 'less')} ({both})"


def _instructions(evidence: Evidence, row: Row, base: str) -> list[_Opinion]:
    """Judged as a row is, against the instructions of the baseline under its other label."""
    stored, setup = evidence.stored, row.cell.setup
    control = evidence.controls.get(row.experiment, "")
    ratio, _ = instruction_pairs(stored, setup, row.subject, base).ratio()
    same = instruction_pairs(stored, setup, base, control)
    floor = noise_floor(same.above, same.below) if same.has_ratio else None
    verdict = judge(ratio, "lower", floor.floor if floor else None)
    if ratio is None or ratio.low is None or ratio.high is None or verdict == "cannot tell":
        return []
    if verdict == "no difference":
        return [_Opinion("instructions", "")]
    words = difference_words(ratio.ratio, "less", "more")
    ends = difference_ends(ratio.ratio, ratio.low, ratio.high, "less", "more")
    return [_Opinion("instructions", with_interval(words, ends))]
