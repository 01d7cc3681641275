"""What must hold for the journals of a fleet run, whatever struck it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

SAMPLES = "samples.jsonl"


class Lost(AssertionError):
    """A sample that was stored once is gone or is there twice."""


class Journals:
    """folders: machine -> where it keeps jobs. Each look compares with the look before."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = folders
        self.seen: dict[str, list[str]] = {}

    def look(self) -> None:
        """Lost if a machine no longer has a line that it had."""
        for folder in self.folders.values():
            for path in folder.glob(f"jobs/*/store/runs/*/{SAMPLES}"):
                lines = _whole_lines(path)
                before = self.seen.get(path.parent.name, [])
                if lines[: len(before)] != before:
                    raise Lost(f"{path} lost lines on its machine")
                self.seen[path.parent.name] = lines

    def demand_all(self, store: Path, rounds: int) -> int:
        """How many samples the client's store has, of a fleet run that is complete. Lost if it
        lacks a line that any machine had, or has a process or a step of the plan twice."""
        self.look()
        if len(self.seen) != len(self.folders):
            raise Lost(f"{len(self.seen)} of {len(self.folders)} machines have a journal")
        return sum(
            _demand_one(store / "runs" / run / SAMPLES, lines, rounds)
            for run, lines in self.seen.items()
        )


def _demand_one(path: Path, lines: list[str], rounds: int) -> int:
    if _whole_lines(path) != lines:
        raise Lost(f"{path} is not what its machine has")
    records = [json.loads(line) for line in lines]
    processes = [record for record in records if record["kind"] == "process"]
    numbers = Counter(process["number"] for process in processes)
    steps = Counter(
        (p["subject"], p["round"])
        for p in processes
        if p["status"] != "interrupted" and not p["facts"].get("counting")
    )
    for what, counts in (("process", numbers), ("step", steps)):
        if twice := [key for key, count in counts.items() if count > 1]:
            raise Lost(f"{path} has a {what} twice: {twice[:5]}")
    missing = {
        (subject, number)
        for subject in {subject for subject, _ in steps}
        for number in range(rounds)
    } - steps.keys()
    if missing:
        raise Lost(f"{path} lacks steps: {sorted(missing)[:5]}")
    return sum(record["kind"] == "sample" for record in records)


def _whole_lines(path: Path) -> list[str]:
    """Those that end: the last one may be in the making."""
    return [line for line in path.read_text().split("\n")[:-1] if line]
