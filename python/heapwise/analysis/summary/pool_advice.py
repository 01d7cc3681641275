"""What a recorded program gains from a pool or an arena at its call sites, as it was measured."""

from __future__ import annotations

from heapwise.analysis.summary.pool_code import pool_code
from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import PoolCandidate, Replay, Row
from heapwise.wording.numbers import change, show
from heapwise.wording.pools import POOL_NAMES
from heapwise.wording.ratios import change_ends, signed_ends

NOTHING_COULD = "Nothing to gain: no call site could have a pool or an arena."


def pool_advice(evidence: Evidence, rows: list[Row]) -> tuple[str, list[str]]:
    """What there is to gain, in one sentence, and a paragraph for each candidate, the largest gain
    first. Empty for a run without candidates.

    Only ``Replay.quantity`` is looked at, which was chosen before the run, and a gain must survive
    that all candidates are compared at once: then a run whose candidates do not differ names one in
    a twentieth of all cases.
    """
    replay = evidence.stored.run.plan.options.replay
    if replay is None or not replay.candidates:
        return "", []
    told = {row.subject: row for row in rows if row.cell.quantity == replay.quantity}
    memory = {row.subject: row for row in rows if row.cell.quantity == "peak_memory"}
    base = next((row.median for row in told.values() if row.baseline), None)
    gains = [each for each in replay.candidates if _gains(evidence, told.get(each.subject))]
    gains.sort(key=lambda each: _ratio(told[each.subject]))
    unsure = sum(_is_unsure(told.get(each.subject)) for each in replay.candidates)
    lines: list[str] = []
    for each in gains:
        lines += _gain(each, told[each.subject], memory.get(each.subject), base, replay)
    for each in replay.candidates:
        if each not in gains:
            lines += [f"{_name(each)}: {_no_gain(each, told.get(each.subject))}", *_looks(each)]
    lines += [
        f"{words}, so it can have neither a pool nor an arena" for words in replay.without_pool
    ]
    return _summary(len(gains), unsure, len(replay.candidates)), lines


def saved_ns(time: Row, base: float | None, replay: Replay) -> float:
    """In the whole run, as the replay says. Below 0: it costs."""
    return (base - time.median) * replay.calls if base and time.median else 0.0


def _gains(evidence: Evidence, row: Row | None) -> bool:
    if row is None or row.verdict != "better":
        return False
    claim = comparisons_of(evidence).claims.get((row.cell, row.subject))
    return claim is not None and claim.survives


def _is_unsure(row: Row | None) -> bool:
    return row is None or row.verdict not in ("worse", "no difference")


def _ratio(row: Row) -> float:
    return row.ratio if row.ratio is not None else 1.0


def _summary(gains: int, unsure: int, candidates: int) -> str:
    if gains:
        return (
            f"{gains} of {candidates} candidates gain{'s' if gains == 1 else ''} time, in the "
            "replay."
        )
    if unsure:
        return f"Cannot tell yet: {unsure} of {candidates} candidates need more rounds."
    return "Nothing to gain: no pool or arena saves time in the replay."


def _name(each: PoolCandidate) -> str:
    others = "".join(f" and {other}" for other in each.others)
    return f"{each.place}{others}"


def _gain(
    each: PoolCandidate, time: Row, memory: Row | None, base: float | None, replay: Replay
) -> list[str]:
    what = "of processor time " if time.cell.quantity == "processor_time" else ""
    words = (
        f"{_name(each)}: {POOL_NAMES[each.policy]} saves "
        f"{show(saved_ns(time, base, replay), 'ns')} {what}in the whole run, all calls "
        f"together {change(time.ratio or 1.0, 'slower', 'faster')}{_between(time)}"
    )
    if memory is not None and memory.verdict in ("better", "worse") and memory.ratio is not None:
        words += f"; peak memory {change(memory.ratio, 'more', 'less')}"
    return [words, *_looks(each), *(f"    {line}" for line in pool_code(each))]


def _looks(each: PoolCandidate) -> list[str]:
    """Why it is a candidate: runs of earlier versions do not say it."""
    return [f"    {each.looks}"] if each.looks else []


def _between(row: Row) -> str:
    """The interval of a gain, in the terms of ``change``."""
    if row.ratio is None or row.ratio_low is None or row.ratio_high is None:
        return ""
    return f" (95 % CI {change_ends(row.ratio, row.ratio_low, row.ratio_high, 'faster')})"


def _no_gain(each: PoolCandidate, row: Row | None) -> str:
    if row is None or row.ratio is None:
        return "not measured"
    name = POOL_NAMES[each.policy]
    low, high = row.ratio_low, row.ratio_high
    took = "" if low is None or high is None else f", {signed_ends(low, high)} time"
    if row.verdict == "worse":
        return f"{name} costs time{took}"
    if row.verdict == "no difference":
        return f"{name} makes no difference{took}"
    return f"cannot tell yet whether {name} gains{took}"
