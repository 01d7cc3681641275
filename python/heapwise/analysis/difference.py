"""Two stored runs: an unpaired comparison where one is possible, else a description."""

from __future__ import annotations

from dataclasses import replace

from heapwise.analysis.recorded_facts import builds
from heapwise.analysis.verdict import judge
from heapwise.evidence import Evidence
from heapwise.evidence.series import Series
from heapwise.machine import machine_fingerprint
from heapwise.model import Cell, Difference, DifferenceRow, Run, unlike_work
from heapwise.stats.dependence import untested
from heapwise.stats.unpaired import unpaired_ratio
from heapwise.wording.lists import listed

LIMITATION = (
    "These runs were not measured side by side. What changed on the machine between them "
    "is part of each difference, so this is weaker than heapwise compare."
)


def difference(first: Evidence, second: Evidence) -> Difference:
    """Of every subject and cell that both runs have. There is a verdict only if the machine, this
    program's version and build, and the work are the same."""
    reasons = obstacles(first, second)
    rows = [
        _row(cell, subject, first, second, described=bool(reasons))
        for cell in first.table
        if cell in second.table
        for subject in first.table[cell]
        if subject in second.table[cell]
        and subject not in first.control_names
        and (cell.experiment, cell.quantity) in second.quantities
    ]
    one, other = first.stored.run, second.stored.run
    return Difference(one.id, other.id, reasons, rows, [] if reasons else _notes(one, other))


def obstacles(first: Evidence, second: Evidence) -> list[str]:
    """Why figures of the two runs cannot be compared; empty if they can."""
    one, other = first.stored.run, second.stored.run
    found = []
    if machine_fingerprint(one.machine) != machine_fingerprint(other.machine):
        found.append(f"the machines differ: {_machine(one, other)}, and {_machine(other, one)}")
    if one.version != other.version:
        found.append(f"Heapwise {one.version} measured one run and {other.version} the other")
    if builds(first) != builds(second):
        said = [listed(map(str, builds(each))) or "unknown" for each in (first, second)]
        found.append(f"the experiments were compiled differently: {said[0]}, and {said[1]}")
    if one.plan.kind != other.plan.kind:
        found.append("one run compares a program, and the other runs experiments")
    elif unlike := unlike_work(one.plan, other.plan):
        found.append(f"the work differs: {listed(unlike)}")
    return found


def _machine(run: Run, other: Run) -> str:
    """What tells it from the other one."""
    names = {
        "name": "name",
        "cpu": "cpu",
        "cores": "cores",
        "memory_bytes": "bytes of memory",
        "kernel": "kernel",
        "libc": "libc",
    }
    return listed(
        (
            f"{word} {getattr(run.machine, name)}"
            for name, word in names.items()
            if getattr(run.machine, name) != getattr(other.machine, name)
        ),
        len(names),
    )


def _notes(one: Run, other: Run) -> list[str]:
    found = []
    programs = [
        {
            state.sha256
            for name, state in (run.plan.options.files or {}).items()
            if name.startswith("program")
        }
        for run in (one, other)
    ]
    if programs[0] != programs[1]:
        found.append("the program's file is not the same in both runs")
    hosts = [run.machine.host for run in (one, other)]
    if hosts[0] != hosts[1] and not one.machine.name:
        found.append(
            f"the hosts {hosts[0]} and {hosts[1]} have equal hardware, and may be two "
            "machines; HEAPWISE_MACHINE=NAME names one"
        )
    return found


def _row(
    cell: Cell, subject: str, first: Evidence, second: Evidence, *, described: bool
) -> DifferenceRow:
    quantity = first.quantities[(cell.experiment, cell.quantity)]
    series = [each.table[cell][subject] for each in (first, second)]
    before, after = (one.middle for one in series)
    row = DifferenceRow(
        cell,
        subject,
        quantity.unit,
        before,
        after,
        ratio=after / before if min(before, after) > 0 else None,
        low=None,
        high=None,
        verdict="none",
    )
    if described or not all(map(_is_positive, series)):
        return row
    found = unpaired_ratio(list(series[1].rounds.values()), list(series[0].rounds.values()))
    found = found.widened(1.0, untested().strict_factor)
    floors = [each.floors.get(cell) for each in (first, second)]
    floor = max((floor for floor in floors if floor is not None), default=None)
    return replace(
        row,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        verdict=judge(found, quantity.better, floor),
    )


def _is_positive(series: Series) -> bool:
    return min(series.rounds.values()) > 0
