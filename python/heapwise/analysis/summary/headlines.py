"""The ratios that published reports print, and those against the best that a user would take.

Each line is computed from pairs, as the rows are.
"""

from __future__ import annotations

from heapwise.analysis.summary.heap_headlines import heap_headlines
from heapwise.analysis.summary.program_headlines import program_headlines
from heapwise.analysis.summary.tree_headlines import tree_headlines
from heapwise.analysis.verdicts.published_figures import published_ratios
from heapwise.analysis.verdicts.roles import (
    BEST_MALLOC,
    OTHER_POOL,
    is_library_pool,
    resolve,
    spoken,
)
from heapwise.analysis.verdicts.rows import place
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Series, baseline_of
from heapwise.model import PROCESSOR_TIME, Cell, Experiment, Setting, same_setting
from heapwise.wording.numbers import TIME_UNITS, ends, times

QUANTILE_WORDS = ("p50", "p9", "max")

SCENARIOS = (
    "pool/bulk",
    "pool/interleaved",
    "pool/concurrent",
    "pool/up_and_down",
    "pool/producer_consumer",
)
"""Those of the published reports on pools, and two that belong to them. Tables have all others."""

SHOWN: dict[str, Setting] = {"touch": "write", "block_size": 64}
"""Where an experiment has several values, the one that the published reports have. Tables have
all."""


def headlines(evidence: Evidence) -> list[str]:
    """For each cell of a pool experiment that times operations, for the heaps, and for the trees.

    None for smoke runs and comparisons.
    """
    found: list[str] = []
    if evidence.stored.run.plan.smoke:
        return found
    for experiment in evidence.stored.run.experiments:
        if experiment.id not in SCENARIOS:
            continue
        timings = [
            c
            for c in evidence.cells[experiment.id]
            if _timing(experiment, c) and _is_shown(evidence, c)
        ]
        for cell in sorted(timings, key=lambda c, e=experiment: place(e, c)):  # type: ignore[misc]
            found += _of_cell(evidence, experiment, cell, evidence.table[cell])
    found += program_headlines(evidence)
    found += heap_headlines(evidence)
    found += tree_headlines(evidence, lambda standing: label(evidence, standing.cell))
    return list(dict.fromkeys(found))


def _timing(experiment: Experiment, cell: Cell) -> bool:
    """Mean times per operation; the quantiles of a latency experiment have a figure instead."""
    if cell.quantity == PROCESSOR_TIME:
        return False
    unit = next((q.unit for q in experiment.quantities if q.name == cell.quantity), "")
    quantile = any(word.startswith(QUANTILE_WORDS) for word in cell.quantity.split("_"))
    return unit in TIME_UNITS and not quantile


def _is_shown(evidence: Evidence, cell: Cell) -> bool:
    if cell.is_diagnostic:
        return False
    others = evidence.cells[cell.experiment]
    return all(
        same_setting(cell.parameters.get(name), value)
        or not any(same_setting(other.parameters.get(name), value) for other in others)
        for name, value in SHOWN.items()
    )


def _of_cell(
    evidence: Evidence, experiment: Experiment, cell: Cell, row: dict[str, Series]
) -> list[str]:
    lines = []
    for above, under in _wanted(evidence, experiment, row):
        name = resolve(evidence, row, above)
        if name is None or under not in row or name == under:
            continue
        ratio, _ = comparisons_of(evidence).ratio((cell, name), (cell, under))
        if ratio is not None:
            lines.append(
                f"{label(evidence, cell)}: {spoken(above, name)} / {under} = "
                f"{figures(ratio.ratio, ratio.low, ratio.high)}"
                f"{_published(experiment, cell, name, under)}"
            )
    return lines


def _wanted(
    evidence: Evidence, experiment: Experiment, row: dict[str, Series]
) -> list[tuple[str, str]]:
    """Against the policy that a user would take here; each against the baseline without one."""
    ours = next((n for n in ("unsynchronized", "thread_cached") if n in row), None)
    if ours is None:
        base = baseline_of(evidence.stored, experiment)
        controls = {n for n, s in evidence.subjects.items() if s.control}
        return [
            (name, base)
            for name in sorted(row)
            if name not in controls and not any(map(is_library_pool, (name, base)))
        ]
    wanted = [(above, ours) for above in ("malloc@glibc", BEST_MALLOC, OTHER_POOL)]
    freer = {"unsynchronized": "unsynchronized_trusting", "thread_cached": "thread_cached_handle"}
    return [*wanted, (OTHER_POOL, freer[ours])]


def label(evidence: Evidence, cell: Cell) -> str:
    """``bulk alloc_fresh``, with the parameters that differ between cells of the experiment."""
    mine = cell.parameters
    every = [c.parameters for c in evidence.cells[cell.experiment]]
    varying = [k for k in mine if len({str(p.get(k)) for p in every}) > 1]
    words = [cell.experiment.rpartition("/")[2], cell.quantity]
    return " ".join([*words, *(f"{k}={mine[k]}" for k in varying)])


def figures(ratio: float, low: float | None, high: float | None) -> str:
    """``6.40x, 6.31 to 6.52``."""
    if low is None or high is None:
        return f"{times(ratio)}, no interval"
    return f"{times(ratio)}, {ends(low, high)}"


def _published(experiment: Experiment, cell: Cell, above: str, below: str) -> str:
    found = published_ratios(experiment, above, below, cell)
    words = [f"{name} {ratio:.2f}x" for name, ratio in found.items()]
    return f" ({'; '.join(words)})" if words else ""
