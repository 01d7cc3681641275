"""SYNTHETIC runs of real programs, drawn from a seed: one has more peak memory under our heap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from synthetic_heap import LEAN, SPEED, Heap, experiment_of, heap_run

from heapwise.model import Experiment, Parameter, ProgramSpec, Quantity
from heapwise.store import StoredRun

OURS = "malloc@heapwise"
LARGER = 1.26
"""Its peak memory over that of glibc."""


def programs(*more: ProgramSpec) -> Experiment:
    here = [ProgramSpec(name, name, ["true"]) for name in ("gawk", "perl", "sqlite3")]
    quantities = [Quantity("wall", "s", "lower"), Quantity("peak_resident", "bytes", "lower")]
    return replace(
        experiment_of("heap/real_programs", quantities, list(SPEED)),
        parameters=[Parameter("program", "", [program.name for program in here], [])],
        programs=[*here, *more],
    )


def programs_run(*more: ProgramSpec, larger: float = LARGER, **changes: Any) -> StoredRun:
    def bend(
        _: str, subject: str, parameters: dict[str, Any], quantity: str, value: float
    ) -> float:
        ours = parameters.get("program") == "sqlite3" and subject == OURS
        is_peak = quantity == "peak_resident"
        return value * larger / LEAN[OURS] if ours and is_peak else value

    return heap_run(Heap(extra=[programs(*more)], bend=bend, **changes))
