"""How far the plan of one machine is, read from the journal of its run."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

TAIL_BYTES = 64 << 10
TOPIC = "heapwise-fleet-progress"
"""The topic of Dask's events."""


class PlanProgress(msgspec.Struct, frozen=True):
    """rounds: that are whole. planned: with warm-up; 0 if the plan has no number of rounds.
    left_s: None while nobody can know it."""

    fleet: str
    machine: str
    rounds: int
    planned: int
    left_s: float | None = None


class _Plan(msgspec.Struct):
    max_rounds: int
    warm_up_rounds: int
    time_s: float


class _Run(msgspec.Struct):
    plan: _Plan


class _Record(msgspec.Struct):
    round: int


class RoundClock:
    """The time per round of this start of the plan, and what follows for the rest of it.

    begun_s: of a monotonic clock. Only the end of the journal is read, so that looking at it costs
    the machine that measures next to nothing.
    """

    def __init__(self, run_folder: Path, begun_s: float) -> None:
        self.samples = run_folder / "samples.jsonl"
        self.document = run_folder / "run.json"
        self.begun_s = begun_s
        self._first: int | None = None
        self._plan: _Plan | None = None

    def read(self, fleet: str, machine: str, now_s: float) -> PlanProgress | None:
        """None before the first round of this start is stored."""
        plan = self._plan = self._plan or _plan_in(self.document)
        rounds = _last_round(self.samples)
        if plan is None or rounds is None:
            return None
        if self._first is None:
            self._first = rounds
        planned = plan.max_rounds + plan.warm_up_rounds if plan.max_rounds else 0
        elapsed_s, whole = now_s - self.begun_s, rounds - self._first
        left = [elapsed_s / whole * (planned - rounds)] if planned and whole > 0 else []
        left += [plan.time_s - elapsed_s] if plan.time_s else []
        return PlanProgress(fleet, machine, rounds, planned, max(0.0, min(left)) if left else None)


def _plan_in(document: Path) -> _Plan | None:
    try:
        return msgspec.json.decode(document.read_bytes(), type=_Run).plan
    except (OSError, msgspec.MsgspecError):
        return None


def _last_round(samples: Path) -> int | None:
    """The round of the last whole line; those before it are whole."""
    try:
        with samples.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - TAIL_BYTES))
            lines = file.read().splitlines(keepends=True)
    except OSError:
        return None
    for line in reversed(lines):
        try:
            return max(0, msgspec.json.decode(line, type=_Record).round)
        except msgspec.MsgspecError:
            continue
    return None
