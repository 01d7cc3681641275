"""Results of several machines in, one table for each subject out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from heapwise.model import Machine, Result, Row
from heapwise.model.by_machine import ByMachine, KindMean, MachineRow
from heapwise.stats.ratios.random_effects import random_effects

PROPERTIES = ("cpu", "cores", "kernel", "libc")
Z95 = 1.959964


def kind_of_machine(machine: Machine) -> str:
    """Eight hexadecimal digits of what an allocator's speed depends on; not of the host's name."""
    parts = (machine.cpu, str(machine.cores), machine.kernel, machine.libc)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def by_machine(results: Sequence[Result]) -> list[ByMachine]:
    """One table for each subject that some machine compared with a baseline. results: one for each
    machine of one fleet run."""
    cells: dict[tuple[str, str, str], list[tuple[Result, Row]]] = {}
    for result in results:
        for row in result.rows:
            if not row.baseline:
                key = row.subject, row.quantity, _where(row)
                cells.setdefault(key, []).append((result, row))
    return [
        _table(*key, found)
        for key, found in cells.items()
        if any(row.ratio is not None for _, row in found)
    ]


def _where(row: Row) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in dict(row.parameters).items())
    return " ".join(filter(None, (row.experiment, settings)))


def _table(subject: str, quantity: str, cell: str, found: list[tuple[Result, Row]]) -> ByMachine:
    rows = [_machine_row(result, row) for result, row in found]
    better = [row for row in rows if row.verdict == "better"]
    worse = [row for row in rows if row.verdict == "worse"]
    return ByMachine(
        subject, quantity, cell, rows, len(better), len(worse), _means(rows), _split(better, worse)
    )


def _machine_row(result: Result, row: Row) -> MachineRow:
    machine, origin = result.run.machine, result.run.plan.options.fleet
    return MachineRow(
        origin.machine if origin else machine.host,
        machine.host,
        kind_of_machine(machine),
        machine.cpu,
        int(machine.cores),
        machine.kernel,
        machine.libc,
        row.ratio,
        row.ratio_low,
        row.ratio_high,
        row.verdict,
        result.trust.verdict,
    )


def _means(rows: list[MachineRow]) -> list[KindMean]:
    """Only among machines of one kind: across kinds a mean answers no question."""
    means = []
    for kind in sorted({row.kind for row in rows}):
        effects, errors = [], []
        for row in rows:
            if row.kind == kind and row.ratio and row.low and row.high:
                effects.append(math.log(row.ratio))
                errors.append((math.log(row.high) - math.log(row.low)) / (2 * Z95))
        if found := random_effects(effects, errors):
            means.append(
                KindMean(
                    kind,
                    len(effects),
                    math.exp(found.mean),
                    math.exp(found.low),
                    math.exp(found.high),
                )
            )
    return means


def _split(better: list[MachineRow], worse: list[MachineRow]) -> list[str]:
    """Properties of which the winning and the losing machines share no value. An association: with
    few machines several properties part them alike."""
    if not better or not worse:
        return []
    return [
        name
        for name in PROPERTIES
        if not {getattr(r, name) for r in better} & {getattr(r, name) for r in worse}
    ]
