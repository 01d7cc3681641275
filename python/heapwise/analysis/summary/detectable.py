"""The smallest difference that an experiment can show here, from the pairs of a thing with
itself."""

from __future__ import annotations

from math import expm1, log, log1p, sqrt
from statistics import mean, stdev

from heapwise.analysis.summary.headlines import label
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import baseline_of, control_of
from heapwise.model import Cell, Detectable, Experiment
from heapwise.stats.ratios.noise import NoiseFloor
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent, significant

AIM = 0.03
"""What an experiment should be able to show at its default size on a quiet machine."""


def detectable(evidence: Evidence) -> list[Detectable]:
    """One for each experiment of a run, of its first quantity that has A/A pairs.

    None for comparisons and smoke runs.
    """
    plan = evidence.stored.run.plan
    if plan.smoke or not plan.traits.has_findings:
        return []
    return [_of(evidence, experiment) for experiment in evidence.stored.run.experiments]


def _of(evidence: Evidence, experiment: Experiment) -> Detectable:
    for quantity in experiment.quantities:
        noise = {
            cell: found
            for cell, found in comparisons_of(evidence).noise.items()
            if (cell.experiment, cell.quantity) == (experiment.id, quantity.name)
        }
        if noise:
            return _typical(evidence, experiment.id, quantity.name, noise)
    return Detectable(
        experiment.id,
        experiment.quantities[0].name,
        None,
        None,
        "",
        0,
        0,
        "fewer than 3 A/A pairs above zero",
    )


def _typical(
    evidence: Evidence, experiment: str, quantity: str, noise: dict[Cell, NoiseFloor]
) -> Detectable:
    """Over the cells the variances are averaged, which steadies what few pairs say of each."""
    logs = {cell: log1p(found.detectable) for cell, found in noise.items()}
    typical = expm1(sqrt(sum(part * part for part in logs.values()) / len(logs)))
    worst = max(logs, key=lambda cell: logs[cell])
    return Detectable(
        experiment,
        quantity,
        typical,
        expm1(logs[worst]),
        label(evidence, worst),
        min(found.pairs for found in noise.values()),
        len(noise),
        _spreads(evidence, list(noise)) if typical >= AIM else "",
    )


def _spreads(evidence: Evidence, cells: list[Cell]) -> str:
    """``processes differ by 12 %, repeats within one by 2.0 %``: standard deviations of logarithms,
    over the baseline and its second label. More rounds help against the first, more work in
    each repeat against the second.
    """
    within, between = [], []
    for cell in cells:
        base = baseline_of(evidence.stored, evidence.experiments[cell.experiment])
        for name in (base, control_of(evidence.stored, base) or ""):
            series = evidence.table[cell].get(name)
            if series is None or min(series.values) <= 0:
                continue
            processes: dict[int, list[float]] = {}
            for (round_, _), value in series.repeats.items():
                processes.setdefault(round_, []).append(log(value))
            within += [stdev(logs) for logs in processes.values() if len(logs) > 1]
            if len(processes) > 1:
                between.append(stdev(log(value) for value in series.rounds.values()))
    if not within or not between:
        return ""
    return (
        f"processes differ by {percent(expm1(_together(between)))}, "
        f"repeats within one by {percent(expm1(_together(within)))}"
    )


def _together(spreads: list[float]) -> float:
    return sqrt(mean(spread * spread for spread in spreads))


def detectable_line(found: list[Detectable]) -> str:
    """``under 3.0 % in 31 of 38 experiments; pool/bulk 4.1 %, ...``; empty for none."""
    if not found:
        return ""
    known = [d for d in found if d.difference is not None]
    fine = [d for d in known if (d.difference or 0.0) < AIM]
    others = sorted((d for d in known if d not in fine), key=lambda d: -(d.difference or 0.0))
    words = [f"{d.experiment} {_least(d)}" for d in others]
    words += [f"{d.experiment}: {d.note}" for d in found if d.difference is None]
    rest = f"; {', '.join(words)}" if words else ""
    if len(found) == 1:
        said = words or [f"{d.experiment} {_least(d)}" for d in fine]
        return f"{said[0]}; {found[0].note}" if others and found[0].note else said[0]
    return f"under {percent(AIM)} in {len(fine)} of {len(found)} experiments{rest}"


def _least(found: Detectable) -> str:
    """From twice as much on in times: ``4.1 %``, ``a factor of 12.3 with 3 pairs``."""
    least = found.difference or 0.0
    if least < 1:
        return percent(least)
    return f"a factor of {significant(1 + least)} with {counted(found.pairs, 'pair')}"
