"""What a recorded program gains from a pool at one of its call sites, as it was measured."""

from __future__ import annotations

from heapwise.evidence import Evidence
from heapwise.model import PoolCandidate, Row
from heapwise.wording.numbers import change, show, size
from heapwise.wording.ratios import ratio_ends


def pool_advice(evidence: Evidence, rows: list[Row]) -> tuple[str, list[str]]:
    """What there is to gain, in one sentence, and a paragraph for each candidate, the largest gain
    first. Empty for a run without candidates."""
    replay = evidence.stored.run.plan.options.replay
    if replay is None or not replay.candidates:
        return "", []
    told = {each.subject: _telling(rows, each.subject) for each in replay.candidates}
    memory = {row.subject: row for row in rows if row.cell.quantity == "peak_memory"}
    gains = [each for each in replay.candidates if _is_better(told[each.subject])]
    gains.sort(key=lambda each: _ratio(told[each.subject]))
    unsure = sum(_is_unsure(row) for row in told.values())
    lines: list[str] = []
    for each in gains:
        if row := told[each.subject]:
            base = next((r.median for r in rows if r.baseline and r.cell == row.cell), None)
            lines += _gain(each, row, memory.get(each.subject), base, replay.calls)
    lines += [f"{each.place}: {_no_gain(told[each.subject])}" for each in replay.candidates
              if each not in gains]
    lines += [f"{words}, so it cannot have a pool" for words in replay.without_pool]
    return _summary(len(gains), unsure, len(replay.candidates)), lines


def _telling(rows: list[Row], subject: str) -> Row | None:
    """The row of time; or of processor time, if only that can be told: other programs on the
    machine move it less."""
    found = {row.cell.quantity: row for row in rows if row.subject == subject}
    time, processor = found.get("time"), found.get("processor_time")
    return processor if _is_unsure(time) and not _is_unsure(processor) else time


def _is_unsure(row: Row | None) -> bool:
    return row is None or row.verdict not in ("better", "worse", "no difference")


def _is_better(row: Row | None) -> bool:
    return row is not None and row.verdict == "better"


def _ratio(row: Row | None) -> float:
    return row.ratio if row is not None and row.ratio is not None else 1.0


def _summary(gains: int, unsure: int, candidates: int) -> str:
    if gains:
        return (f"{gains} of {candidates} call sites gain{'s' if gains == 1 else ''} from a pool, "
                "in the replay.")
    if unsure:
        return f"Cannot tell yet: {unsure} of {candidates} call sites need more rounds."
    return "Nothing to gain: no pool saves time in the replay."


def _gain(each: PoolCandidate, time: Row, memory: Row | None, base: float | None,
          calls: int) -> list[str]:
    saved = (base - time.median) * calls if base and time.median else 0.0
    what = "of processor time " if time.cell.quantity == "processor_time" else ""
    words = (f"{each.place}: a pool saves {show(saved, 'ns')} {what}in the whole run, all calls "
             "together "
             f"{change(time.ratio or 1.0, 'slower', 'faster')} ({ratio_ends(time)})")
    if memory is not None and memory.verdict in ("better", "worse") and memory.ratio is not None:
        words += f"; peak memory {change(memory.ratio, 'more', 'less')}"
    code = (f"heapwise::pool<heapwise::{each.policy}> blocks{{{{.block_size = {each.block_size}, "
            ".block_count = 256, .growth = heapwise::growth::geometric}};")
    return [words, f"    {each.blocks:,} blocks of {size(each.block_size)}: "
            f"#include <heapwise/heapwise.hpp>   {code}"]


def _no_gain(row: Row | None) -> str:
    if row is None or row.ratio is None:
        return "not measured"
    if row.verdict == "worse":
        return f"a pool costs time, {ratio_ends(row)}"
    if row.verdict == "no difference":
        return f"a pool makes no difference, {ratio_ends(row)}"
    return f"cannot tell yet, {ratio_ends(row)}"
