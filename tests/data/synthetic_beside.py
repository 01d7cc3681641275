"""Rounds in which all subjects of a synthetic comparison ran at once, beside the baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heapwise.model import SIDE_BY_SIDE, Beside, Process, ProcessFacts, Quantity, Sample
from heapwise.store import StoredRun


def with_rounds_beside(
    stored: StoredRun, ratios: dict[str, float], rounds: int = 12, noise: float = 0.003
) -> StoredRun:
    """ratios: subject -> its processor time in units of that of the baseline beside it."""
    random = np.random.default_rng(1)
    processes, samples = list(stored.processes), list(stored.samples)
    [experiment] = stored.run.experiments
    first = max(p.round for p in processes) + 1
    for round_ in range(first, first + rounds):
        baseline = len(processes)
        for name, ratio in {experiment.baseline: 1.0, **ratios}.items():
            number = len(processes)
            value = ratio * float(random.lognormal(0, noise)) if number != baseline else 1.0
            processes.append(
                Process(
                    number=number,
                    experiment=experiment.id,
                    subject=name,
                    parameters={},
                    round=round_,
                    status="ok",
                    facts=ProcessFacts(
                        user_s=value,
                        system_s=0.0,
                        beside=Beside(baseline=baseline, processes=1 + len(ratios), overlap=1.0),
                    ),
                )
            )
            samples.append(
                Sample(
                    process=number,
                    experiment=experiment.id,
                    subject=name,
                    parameters={},
                    round=round_,
                    repeat=0,
                    warm_up=False,
                    values={SIDE_BY_SIDE: value},
                )
            )
    quantity = Quantity(SIDE_BY_SIDE, "", "lower", "", relative=True)
    declared = replace(experiment, quantities=[*experiment.quantities, quantity])
    run = replace(stored.run, experiments=[declared])
    return replace(stored, run=run, processes=processes, samples=samples)
