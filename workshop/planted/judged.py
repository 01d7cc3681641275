"""What a comparison said of planted effects, beside what was planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal

import msgspec

from heapwise.analysis.verdicts.rows import make_rows
from heapwise.evidence import Evidence
from heapwise.evidence.kept import timed
from heapwise.model import SIDE_BY_SIDE, Process, Row
from workshop.planted.plant import Paid, true_ratio

PLAIN = "plain"
"""The baseline: the library that looks at the clock, and plants nothing."""

JUDGED = (SIDE_BY_SIDE, "cpu_time")
"""The quantities in which an effect is looked for; the first that was measured counts."""


class Effect(msgspec.Struct, frozen=True):
    """All in percent. planted: as asked for. true: the median of the processes that the row is
    made of. low and high: of the row's 95 % interval. n: values of the row. known: processes of
    which the record says what was planted."""

    planted: float
    quantity: str
    true: float | None
    found: float | None
    low: float | None
    high: float | None
    verdict: str
    n: int
    known: int

    @property
    def sign(self) -> Literal["right", "wrong", "not told"]:
        """Whether the verdict has the direction of the effect: more processor time is worse."""
        signs: dict[str, Literal["right", "wrong"]] = {"worse": "right", "better": "wrong"}
        return signs.get(self.verdict, "not told")

    @property
    def holds(self) -> bool | None:
        """Whether the interval has the true effect in it; None if there is no interval."""
        if self.true is None or self.low is None or self.high is None:
            return None
        return self.low <= self.true <= self.high


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


def effects_of(evidence: Evidence, records: Mapping[float, Sequence[Paid]]) -> list[Effect]:
    """One for each effect that was planted, in each quantity that was measured; those of the
    quantity that counts come first."""
    rows = make_rows(evidence)
    return [
        effect
        for quantity in JUDGED
        for percent, record in records.items()
        for effect in _effect(evidence, rows, quantity, percent, list(record))
    ]


def _effect(
    evidence: Evidence, rows: Sequence[Row], quantity: str, percent: float, record: list[Paid]
) -> list[Effect]:
    name = name_of(percent)
    row = next((r for r in rows if r.subject == name and r.quantity == quantity), None)
    if row is None or row.ratio is None:
        return []
    processes = [
        p
        for p in evidence.stored.processes
        if p.subject == name and p.status == "ok" and _is_of(p, quantity)
    ]
    true = [r for p in processes if (r := true_ratio(p.facts, record)) is not None]
    return [
        Effect(
            planted=percent,
            quantity=quantity,
            true=_percent(median(true) if true else None),
            found=_percent(row.ratio),
            low=_percent(row.ratio_low),
            high=_percent(row.ratio_high),
            verdict=row.verdict,
            n=row.n,
            known=len(true),
        )
    ]


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
        found.setdefault(effect.planted, effect)
    return list(found.values())
