"""Stores with many runs of one program, whose medians are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heapwise.machine import read_machine
from heapwise.model import (
    Machine,
    Peer,
    Plan,
    Process,
    ProcessFacts,
    Revision,
    Run,
    Sample,
    Subject,
)
from heapwise.runner import experiment_of
from heapwise.store import RunWriter

MACHINE = read_machine()


def commit_of(number: int) -> str:
    return f"{number:010x}" * 4


def run_of(
    number: int,
    *,
    version: str = "2.36",
    machine: Machine = MACHINE,
    known: bool = True,
    command: Sequence[str] = ("/x/prog", "--bench"),
) -> Run:
    """The run of the commit with that number, made on the day after it."""
    peer = Peer("glibc", "glibc", "system", "", version, "ab" * 20, "", "")
    subjects = [
        Subject("glibc", "glibc", peer, baseline=True),
        Subject("glibc-control", "again", peer, control=True),
    ]
    plan = Plan("compare", list(command), ["compare"], {}, subjects, 1, 1, 1, 0.0, 0.0, 0, 0.0)
    day = f"2026-{1 + number // 28:02}-{1 + number % 28:02}"
    revision = Revision(commit_of(number), f"{day}T01:00:00+00:00") if known else None
    return Run(
        1,
        f"r{number:04}",
        "0.1.0",
        f"{day}T02:00:00+00:00",
        ["heapwise"],
        plan,
        machine,
        [experiment_of(list(command), subjects)],
        "complete",
        revision=revision,
    )


def add(store: Path, run: Run, value: float, rounds: int = 3) -> None:
    """A run whose median of ``wall_time`` is the value; its control and its warm-up are far off."""
    with RunWriter.create(store, run) as writer:
        number = 0
        for subject, factor in (("glibc", 1.0), ("glibc-control", 9.0)):
            for round in range(-1, rounds):
                warm_up = round < 0
                writer.append(
                    Process(
                        number,
                        "compare",
                        subject,
                        {},
                        round,
                        "ok",
                        warm_up=warm_up,
                        facts=ProcessFacts(wall_s=value),
                    )
                )
                there = value * factor * (5.0 if warm_up else 1 + 0.001 * (round - 1))
                writer.append(
                    Sample(
                        number,
                        "compare",
                        subject,
                        {},
                        round,
                        0,
                        warm_up,
                        {"wall_time": there, "peak_memory": 1e6},
                    )
                )
                number += 1


def fill(store: Path, values: Sequence[float]) -> None:
    for number, value in enumerate(values):
        add(store, run_of(number), value)


def elsewhere(kernel: str) -> Machine:
    return replace(MACHINE, kernel=kernel)
