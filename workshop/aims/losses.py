"""Where our heap loses, in sentences: rows in which a rival is ahead, programs of more memory."""

from __future__ import annotations

from heapwise.analysis.summary.headlines import label
from heapwise.analysis.summary.heap_headlines import NAMED
from heapwise.analysis.summary.program_headlines import cells_of_quantity
from heapwise.analysis.verdicts.gain import PEAK, gain
from heapwise.analysis.verdicts.lead import lead
from heapwise.analysis.verdicts.standing import Rank, Standing, standings
from heapwise.analysis.verdicts.verdict import judge
from heapwise.evidence import Evidence, comparisons_of
from heapwise.model import PROGRAM, Cell, Experiment, short_name
from heapwise.wording.lists import counted, listed
from heapwise.wording.numbers import times
from workshop.aims.rivals import INLINED, OURS


def losses(evidence: Evidence) -> list[str]:
    """A line for each of ours in the rows of the heap family, then one for each experiment of
    programs. None of a smoke run."""
    if evidence.stored.run.plan.smoke:
        return []
    found = standings(evidence, "heap")
    lines = [line for ours in (OURS, INLINED) for line in _losses(evidence, ours, found)]
    for experiment in evidence.stored.run.experiments:
        if experiment.programs and (peaks := cells_of_quantity(evidence, experiment, PEAK)):
            lines += _larger(evidence, experiment, peaks)
    return lines


def _losses(evidence: Evidence, ours: str, found: list[Standing]) -> list[str]:
    """Every row where the pairs show a rival ahead, the worst first; ours are not rivals.

    Each by itself: an adjustment for their number would hide losses.
    """
    mine = 0
    lost: list[tuple[float, str]] = []
    for standing in found:
        rivals = [name for name in standing.places if name not in (OURS, INLINED)]
        if ours not in standing.places or not rivals:
            continue
        mine += 1
        rival = _best(standing, rivals).subject
        ratio = lead(evidence, standing.cell, rival, rivals, ours)
        if (
            ratio
            and judge(ratio, "higher", comparisons_of(evidence).floors.get(standing.cell))
            == "better"
        ):
            row = label(evidence, standing.cell)
            lost.append((ratio.ratio, f"{row} ({times(ratio.ratio)} behind {rival})"))
    if not mine:
        return []
    if not lost:
        return [f"{ours} loses: in none of {mine} rows is another shown to be better"]
    words = listed([words for _, words in sorted(lost, reverse=True)], NAMED)
    return [f"{ours} loses: in {len(lost)} of {mine} rows: {words}"]


def _best(standing: Standing, rivals: list[str]) -> Rank:
    choose = max if standing.quantity.better == "higher" else min
    return choose((standing.places[name] for name in rivals), key=lambda place: place.median)


def _larger(evidence: Evidence, experiment: Experiment, peaks: list[Cell]) -> list[str]:
    """Programs whose verdict says that they have more peak memory, the largest ratio first.
    Programs without an interval are left out."""
    base = evidence.baselines[experiment.id]
    found: list[tuple[float, str]] = []
    measured = 0
    for cell in peaks:
        if not {OURS, base} <= evidence.table[cell].keys():
            continue
        ratio, _ = gain(evidence, cell, OURS, base)
        if ratio is None or ratio.high is None:
            continue
        measured += 1
        if judge(ratio, "higher", comparisons_of(evidence).floors.get(cell)) == "worse":
            found.append((1 / ratio.ratio, f"{cell.parameters[PROGRAM]} {times(1 / ratio.ratio)}"))
    if not measured:
        return []
    words = listed([word for _, word in sorted(found, reverse=True)], len(found))
    return [
        f"{short_name(OURS)} has more peak memory than {short_name(base)} in {len(found)} of "
        f"{counted(measured, 'program')}{words and ': '}{words}"
    ]
