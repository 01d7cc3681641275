"""What a comparison said of planted effects, beside what was planted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from heapwise.analysis.verdicts.rows import make_rows
from heapwise.evidence import Evidence
from heapwise.evidence.kept import timed
from heapwise.model import SIDE_BY_SIDE, Process, Row
from workshop.planted.plant import Paid, own_s
from workshop.planted.truth import FEWEST_VALUES, NORMAL_95, Alone, Truth, truth_there

PLAIN = "plain"
"""The baseline: the library that looks at the clock, and plants nothing."""

JUDGED = (SIDE_BY_SIDE, "cpu_time")
"""The quantities in which an effect is looked for; the first that was measured counts."""


class Effect(msgspec.Struct, frozen=True):
    """All in percent. true: measured alone, on as many processors as in the comparison. there: the
    same of the processes of the comparison; None with few of them. found, low and high: of the row
    and its 95 % interval. own: how much dearer the program's own work was in the comparison than
    without what was planted. n: values of the row.

    Both are true. What others do to a process, as to empty its caches, falls on its own work. If
    that grows with the whole time of the process, the effect stays what it is alone; if with the
    own work, it is what it is there.
    """

    true: Truth
    quantity: str
    found: float | None
    low: float | None
    high: float | None
    own: float | None
    verdict: str
    n: int
    there: Truth | None = None

    @property
    def sign(self) -> Literal["right", "wrong", "not told"]:
        """Whether the verdict has the direction of the effect: more processor time is worse."""
        signs: dict[str, Literal["right", "wrong"]] = {"worse": "right", "better": "wrong"}
        return signs.get(self.verdict, "not told")

    @property
    def holds(self) -> bool | None:
        """Whether the interval holds what is true alone, or there, or anything between the two;
        None if there is no interval."""
        ends = [self.holds_truth(truth) for truth in (self.true, self.there) if truth]
        if None in ends:
            return None
        effects = [truth.effect for truth in (self.true, self.there) if truth]
        between = self.found is not None and min(effects) < self.found < max(effects)
        return any(ends) or between

    def holds_truth(self, truth: Truth) -> bool | None:
        """Whether the interval holds this; None if there is no interval.

        The truth was measured, too: its error and the half of the interval towards it are added
        by their squares.
        """
        if self.found is None or self.low is None or self.high is None:
            return None
        miss = truth.effect - self.found
        half = self.high - self.found if miss > 0 else self.found - self.low
        return abs(miss) <= math.hypot(half, NORMAL_95 * truth.error)


class Looked(msgspec.Struct, frozen=True):
    """The comparison of one program. said: why there is no effect of it."""

    program: str
    title: str
    run: str = ""
    said: str = ""
    effects: list[Effect] = []
    cpu_s: float = 0.0
    minutes: float = 0.0


def name_of(percent: float) -> str:
    """The subject in which so much is planted."""
    return f"planted-{percent:g}"


def effects_of(
    evidence: Evidence,
    truths: Mapping[str, Mapping[float, Truth]],
    records: Mapping[str, Sequence[Paid]],
) -> list[Effect]:
    """One for each effect that was planted, in each quantity that was measured; those of the
    quantity that counts come first.

    truths: quantity -> percent -> what is true of it. records: what was planted in the processes of
    each subject.
    """
    rows = make_rows(evidence)
    return [
        effect
        for quantity in JUDGED
        for truth in truths[quantity].values()
        for effect in _effect(evidence, rows, quantity, truth, records)
    ]


def _effect(
    evidence: Evidence,
    rows: Sequence[Row],
    quantity: str,
    truth: Truth,
    records: Mapping[str, Sequence[Paid]],
) -> list[Effect]:
    name = name_of(truth.planted)
    row = next((r for r in rows if r.subject == name and r.quantity == quantity), None)
    if row is None or row.ratio is None:
        return []
    runs = {subject: _runs(evidence, subject, quantity, records) for subject in (name, PLAIN)}
    enough = min(map(len, runs.values())) >= FEWEST_VALUES
    there, own = truth_there(truth, runs[name], runs[PLAIN]) if enough else (None, None)
    return [
        Effect(
            true=truth,
            quantity=quantity,
            found=_percent(row.ratio),
            low=_percent(row.ratio_low),
            high=_percent(row.ratio_high),
            own=own,
            verdict=row.verdict,
            n=row.n,
            there=there,
        )
    ]


def _runs(
    evidence: Evidence, subject: str, quantity: str, records: Mapping[str, Sequence[Paid]]
) -> list[Alone]:
    """The processes of a row, as far as their records are known."""
    found = []
    for process in evidence.stored.processes:
        if process.subject == subject and process.status == "ok" and _is_of(process, quantity):
            cpu_s, own = process.facts.cpu_s_beside, own_s(process.facts, records[subject])
            if cpu_s and own is not None:
                found.append(Alone(cpu_s, cpu_s - own, looks=0, ends=0))
    return found


def _is_of(process: Process, quantity: str) -> bool:
    if quantity == SIDE_BY_SIDE:
        return process.facts.beside is not None and not process.warm_up
    return timed(process)


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else round((ratio - 1) * 100, 3)


def counting(effects: Sequence[Effect]) -> list[Effect]:
    """The planted effects, each in the quantity that counts."""
    found: dict[float, Effect] = {}
    for effect in effects:
        found.setdefault(effect.true.planted, effect)
    return list(found.values())
