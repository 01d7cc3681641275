"""SYNTHETIC runs of a pool experiment: several orders and uses of its blocks, from a seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synthetic import pool_run

from heapwise.model import Answer, Parameter
from heapwise.store import StoredRun


def crossed(stored: StoredRun, name: str, *values: Any) -> StoredRun:
    """Every process and sample again for each value of one more parameter."""
    processes, samples = [], []
    for value in values:
        first = len(processes)
        processes += [
            replace(p, number=p.number + first, parameters={**p.parameters, name: value})
            for p in stored.processes
        ]
        samples += [
            replace(s, process=s.process + first, parameters={**s.parameters, name: value})
            for s in stored.samples
        ]
    declared = Parameter(name, name, list(values), list(values))
    answer = Answer("free", "unsynchronized", "boost_pool")
    experiments = [
        replace(e, parameters=[*e.parameters, declared], answers=[answer])
        for e in stored.run.experiments
    ]
    return replace(
        stored,
        run=replace(stored.run, experiments=experiments),
        processes=processes,
        samples=samples,
    )


def bulk(*uses: str, order: str = "address") -> StoredRun:
    return crossed(crossed(pool_run(rounds=8), "free_order", order), "touch", *uses)
