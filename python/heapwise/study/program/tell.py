"""What is told about a comparison of programs."""

from __future__ import annotations

from heapwise.document import Labelled, Passage
from heapwise.evidence import Evidence, calls_of, comparisons_of
from heapwise.evidence.earlier_runs import calibration_words
from heapwise.model import SIDE_BY_SIDE, Result, Row
from heapwise.study.program.compare_table import compare_tables
from heapwise.study.sentences import advice
from heapwise.study.server.server_tables import growth_tables
from heapwise.wording.lists import listed
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import percent

SHOWN = ("wall_time", SIDE_BY_SIDE, "peak_memory")
"""What the tables compare."""

TIMES = ("wall_time", SIDE_BY_SIDE)
"""The quantities whose noise floor is told."""

NAMED = 4
"""Subjects of a quantity that are named at most."""

NO_VERDICT = "No verdict although the interval that is shown lies beside 0"


def tell(result: Result, evidence: Evidence) -> list[Passage]:
    noise = result.noise_floor
    return [
        *compare_tables(result),
        *_doubts(result),
        *growth_tables(evidence),
        advice(result),
        *_most_gain(evidence),
        *([] if noise is None else [_noise(noise, evidence)]),
    ]


def _doubts(result: Result) -> list[Labelled]:
    """What stands against a verdict where the interval that is shown would allow one."""
    controls = {subject.name for subject in result.run.plan.subjects if subject.control}
    found: dict[str, list[str]] = {}
    for row in result.rows:
        if row.quantity not in SHOWN or row.subject in controls or row.verdict != "cannot tell":
            continue
        if row.note and _excludes_one(row):
            said = found.setdefault(quantity_name(row.quantity), [])
            said.append(f"{row.subject} ({row.note})")
    words = "; ".join(f"{name}: {listed(said, NAMED)}" for name, said in found.items())
    return [Labelled("Doubt", f"{NO_VERDICT}. {words}")] if words else []


def _excludes_one(row: Row) -> bool:
    """Whether the ratio has an interval, and 1 lies outside it."""
    if row.ratio_low is None or row.ratio_high is None:
        return False
    return not row.ratio_low <= 1 <= row.ratio_high


def _most_gain(evidence: Evidence) -> list[Labelled]:
    """What the reader can hope for at most. Builds can differ in more than in their allocator."""
    demand = calls_of(evidence).demand
    if demand is None or demand.most_gain is None or evidence.compares_builds:
        return []
    calls, kernel = demand.calls_share or 0.0, demand.kernel_share or 0.0
    words = (
        f"about {percent(demand.most_gain)} of the processor time at most: calls of malloc and "
        f"free take about {percent(calls)} at 20 ns a pair, and the kernel, which maps pages for "
        f"blocks, {percent(kernel)}. A quicker allocator can hardly gain more; one that places "
        "blocks better can"
    )
    return [Labelled("Malloc", words)]


def _noise(floor: float, evidence: Evidence) -> Labelled:
    beside = [
        f for cell, f in comparisons_of(evidence).floors.items() if cell.quantity == SIDE_BY_SIDE
    ]
    words = f"±{percent(floor)} (A/A)"
    if beside:
        words += f" in time, ±{percent(max(beside))} in CPU time side by side"
    wider = calibration_words(evidence)
    said = f"{words}: {_meaning(evidence)}" + (f". {wider}" if wider else "")
    return Labelled("Noise", said, folds=bool(wider))


def _meaning(evidence: Evidence) -> str:
    """The floor decides a row only if the A/A interval excludes 1 (``NoiseFloor.least``)."""
    noise = comparisons_of(evidence).noise
    if any(found.biased for cell, found in noise.items() if cell.quantity in TIMES):
        return "the baseline differs from itself, so smaller differences are not claimed"
    return "as far as the interval of the baseline against itself reaches"
