"""Did each process have a different memory layout?

The addresses of a program and its blocks can change its speed by more than an allocator does.
With address randomisation, and an environment of a different size for each process, each process
has a random layout, and the figures are averages over layouts. With one fixed layout, chance
decides which subject looks fast.
If it warns: turn randomisation on again (no setarch -R, kernel.randomize_va_space=2).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from heapwise.evidence import Evidence
from heapwise.model import Check, Machine
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent

ID, TITLE = "V10", "The layout of memory was drawn for each process"

NO_RANDOMISATION = 0x0040000
"""ADDR_NO_RANDOMIZE of personality(2); children inherit it."""

ENOUGH = 10
"""Processes of each subject: fewer layouts average little."""

LEAST = 3
"""Processes from which their scatter is given."""


def check(evidence: Evidence) -> Check:
    stored = evidence.stored
    reason = _fixed(stored.run.machine) or _by_command(stored.run.plan.command)
    scatter = _scatter(evidence)
    fewest = min(
        (len(row.rounds) for cell in evidence.table.values() for row in cell.values()), default=0
    )
    figures = {"fixed": reason, "between_processes": scatter, "fewest_processes": fewest}
    if reason:
        return Check(
            ID,
            TITLE,
            "warn",
            f"Address randomisation is off ({reason}): each process "
            "had the same layout, whose luck is in every figure.",
            figures,
        )
    if stored.run.machine.facts.settings.get("aslr") is None:
        return Check(
            ID, TITLE, "unavailable", "Whether addresses were random is not on record.", figures
        )
    words = "Addresses were random, and each environment had a size of its own"
    if scatter:
        usual, most = float(np.median([*scatter.values()])), max(scatter.values())
        words += (
            f"; processes of one subject differ by {percent(usual)} (standard deviation), at "
            f"most {percent(most)}"
        )
    if fewest < ENOUGH:
        words += (
            f"; {counted(fewest, 'process', 'processes')} of a subject are few to average "
            f"layouts, {ENOUGH} are better"
        )
    return Check(ID, TITLE, "pass", f"{words}.", figures)


def _fixed(machine: Machine) -> str:
    settings = machine.facts.settings
    if settings.get("aslr") == 0:
        return "kernel.randomize_va_space is 0"
    try:
        flags = int(str(settings.get("personality") or "0"), 16)
    except ValueError:
        flags = 0
    return "by the personality of this session" if flags & NO_RANDOMISATION else ""


def _by_command(command: list[str]) -> str:
    off = {"-R", "--addr-no-randomize"}
    if command and Path(command[0]).name == "setarch" and off & set(command[1:]):
        return f"setarch {next(word for word in command if word in off)}"
    return ""


def _scatter(evidence: Evidence) -> dict[str, float]:
    """Subject -> standard deviation between its processes, relative, over its cells the median."""
    firsts = {e.id: e.quantities[0].name for e in evidence.stored.run.experiments}
    found: dict[str, list[float]] = {}
    for cell, row in evidence.table.items():
        if cell.quantity != firsts.get(cell.experiment):
            continue
        for name, series in row.items():
            values = [value for value in series.rounds.values() if value > 0]
            if len(values) >= LEAST:
                found.setdefault(name, []).append(float(np.std(np.log(values), ddof=1)))
    return {name: float(np.median(spreads)) for name, spreads in found.items()}
