"""Programs under each allocator in sentences: the mean over them."""

from __future__ import annotations

from heapwise.analysis.verdicts.gain import mean_floor, mean_gain
from heapwise.analysis.verdicts.rows import place
from heapwise.evidence import Evidence, ranking_of
from heapwise.model import Cell, Experiment, short_name
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.wording.lists import counted, listed
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import ends, percent, times


def program_headlines(evidence: Evidence) -> list[str]:
    """For each quantity of an experiment on programs the geometric mean over its programs, by
    allocator."""
    lines = []
    for experiment in evidence.stored.run.experiments:
        if not experiment.programs:
            continue
        for quantity in experiment.quantities:
            cells = cells_of_quantity(evidence, experiment, quantity.name)
            if len(cells) > 1:
                lines += _means(evidence, experiment, cells)
    return lines


def cells_of_quantity(evidence: Evidence, experiment: Experiment, quantity: str) -> list[Cell]:
    """The cells of the experiment that have the quantity, in the order of its programs."""
    found = [c for c in evidence.table if (c.experiment, c.quantity) == (experiment.id, quantity)]
    return sorted(found, key=lambda cell: place(experiment, cell))


def _means(evidence: Evidence, experiment: Experiment, cells: list[Cell]) -> list[str]:
    """Above 1 is better than the baseline, whatever the quantity counts. Nothing if no allocator
    was measured under every program."""
    base = evidence.baselines[experiment.id]
    names = {name for cell in cells for name in evidence.table[cell]} - {
        base,
        *ranking_of(evidence).never_ranked[experiment.id],
    }
    found: dict[str, PairedRatio] = {}
    partly = []
    for name in sorted(names):
        ratio, _ = mean_gain(evidence, cells, name, base)
        if ratio is None:
            partly.append(short_name(name))
        else:
            found[name] = ratio
    if not found:
        return []
    words = [
        f"{short_name(name)} {_figure(found[name])}"
        for name in sorted(found, key=lambda name: -found[name].ratio)
    ]
    floor = mean_floor(evidence, cells)
    noise = f" (noise floor ±{percent(floor)})" if floor is not None else ""
    left_out = f"; not measured under every program: {listed(partly)}" if partly else ""
    return [
        f"{_name(experiment)} {quantity_name(cells[0].quantity)}, geometric mean over "
        f"{counted(len(cells), 'program')}, times better than {short_name(base)}{noise}: "
        f"{'; '.join(words)}{left_out}"
    ]


def _figure(ratio: PairedRatio) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{times(ratio.ratio)}, no interval"
    return f"{times(ratio.ratio)}, {ends(ratio.low, ratio.high)}"


def _name(experiment: Experiment) -> str:
    return experiment.id.rpartition("/")[2]
