"""Compares one program under the allocators, records it once, and replays the trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fidelity.model import BASELINE, Compared, Figure, Figures, Measured, Replayed
from heapwise.catalog import EMPTY, native_part
from heapwise.trace import open_trace
from recording.measure import recorder
from recording.programs import RealProgram
from recording.run import run

HEAPWISE = [sys.executable, "-m", "heapwise"]

QUANTITIES = {"cpu": ("cpu_time", "processor_time"), "wall": ("wall_time", "time")}
"""Of `compare`, and of the replay."""

STARTS = 3
"""Processes of a program beside the rounds: warm-up, recording, and the look at its length."""

LEAST_SHARE = 0.8
"""Of the events of a program that the process has whose trace is played. git and g++ start others:
what one process does not stand for is not judged by it."""

COMMANDS_S = 6.0
"""Of the commands themselves: their checks before and after the rounds."""


@dataclass(frozen=True)
class Wanted:
    """allocators: beside the baseline."""

    allocators: Sequence[str]
    rounds: int
    store: Path

    @property
    def subjects(self) -> str:
        return ",".join([BASELINE, *self.allocators])


@dataclass(frozen=True)
class BusiestProcess:
    """The process of a program that makes most events, of which only the trace is played. share: of
    the events of all processes. processes: how many were recorded. threads: of this one."""

    trace: Path
    share: float
    processes: int
    threads: int


def busiest_process(processes: Sequence[dict[str, Any]]) -> BusiestProcess:
    """Of what the recorder says of each process: its ``trace`` and ``events``."""
    events = sum(each["events"] for each in processes)
    busiest = max(processes, key=lambda each: each["events"])
    with open_trace(Path(busiest["trace"])) as trace:
        if trace.summary is None:
            raise ValueError(f"{trace.path} has no end")
        threads = trace.summary.threads
    return BusiestProcess(trace.path, busiest["events"] / max(events, 1), len(processes), threads)


def seconds_of(program: RealProgram) -> float | None:
    """How long the program takes as it is; None if it does not end well on this machine."""
    program = fresh(program)
    try:
        return run(
            program.command,
            program.folder,
            standard_input=program.standard_input,
            environment=program.environment,
        ).wall
    except subprocess.CalledProcessError:
        return None


def estimate_s(program_s: float, wanted: Wanted) -> float:
    """Of one program: its rounds with the A/A pair, and as much for two schedules of the replay."""
    processes = (len(wanted.allocators) + 2) * wanted.rounds
    return COMMANDS_S + program_s * (processes + STARTS) + processes * 2 * (program_s + 0.1)


def fresh(program: RealProgram) -> RealProgram:
    """git changes what it works on, so its input is made again."""
    if program.name == "git":
        subprocess.run(["rm", "-rf", "repository"], cwd=program.folder, check=True)
        program.begin()
    return program


def measure(program: RealProgram, wanted: Wanted) -> Measured:
    """A program whose trace cannot be played is compared no more: there is nothing to judge."""
    load = round(os.getloadavg()[0], 1)
    trace = program.folder / "trace.hwt"
    fresh(program)
    run(
        recorder(trace, follows=True) + program.command,
        program.folder,
        standard_input=program.standard_input,
        environment=program.environment,
    )
    busiest = busiest_process(json.loads(Path(f"{trace}.json").read_text())["processes"])
    quantity = "cpu" if busiest.threads == 1 else "wall"
    nothing = Measured(quantity, None, None, "", wanted.rounds, load)
    if busiest.share < LEAST_SHARE:
        return _refused(
            nothing,
            f"no process of it makes {LEAST_SHARE:.0%} of its events: the "
            f"busiest has {busiest.share:.0%}",
        )
    played, words = _json(
        [
            "replay",
            str(busiest.trace),
            "--schedule",
            "fast,order",
            "--allocators",
            ",".join(wanted.allocators),
            "--rounds",
            str(wanted.rounds),
        ],
        wanted,
        program.folder,
        {},
    )
    for each in program.folder.glob("trace*.hwt"):
        each.unlink()
    if played is None:
        return _refused(nothing, words)
    replayed = _replayed(played, QUANTITIES[quantity][1], busiest)
    compared, words = _json(_compare(program, wanted), wanted, program.folder, program.environment)
    if compared is None:
        return _refused(nothing, words)
    return Measured(
        quantity,
        Compared(figures(compared, QUANTITIES[quantity][0]), figures(compared, "peak_memory")),
        replayed,
        "",
        wanted.rounds,
        load,
    )


def measure_own(wanted: Wanted, folder: Path) -> dict[str, float]:
    """Bytes that an allocator's library itself takes: the peak of a program that does nothing."""
    found, words = _json(
        [
            "compare",
            "--allocators",
            wanted.subjects,
            "--rounds",
            "5",
            "--",
            str(native_part(EMPTY)),
        ],
        wanted,
        folder,
        {},
    )
    if found is None:
        raise SystemExit(words)
    return {name: each.median for name, each in figures(found, "peak_memory").items()}


def figures(result: dict[str, Any], quantity: str, **parameters: str) -> Figures:
    """Of one quantity, by allocator; the second label of the baseline stays out."""
    found = {}
    for row in result["rows"]:
        at = row["parameters"]
        name = row["subject"].removeprefix("malloc@")
        if (
            at["quantity"] != quantity
            or name.endswith("-control")
            or row["median"] is None
            or any(at.get(key) != value for key, value in parameters.items())
        ):
            continue
        found[name] = Figure(
            row["median"], row["ratio"], row["ratio_low"], row["ratio_high"], row["verdict"]
        )
    return found


def broken(wanted: Wanted) -> Measured:
    """A program that does not end well."""
    return Measured("wall", None, None, "it does not end well on this machine", wanted.rounds, 0.0)


def _refused(nothing: Measured, words: str) -> Measured:
    return Measured(nothing.quantity, None, None, words, nothing.rounds, nothing.load)


def _replayed(result: dict[str, Any], quantity: str, busiest: BusiestProcess) -> Replayed:
    replay = result["run"]["plan"]["options"]["replay"]
    [exact] = [each for each in result["trust"]["checks"] if each["id"] == "V24"]
    return Replayed(
        figures(result, quantity, schedule="fast"),
        figures(result, "peak_memory", schedule="order"),
        replay["calls"],
        replay["threads"],
        exact["verdict"],
        busiest.share,
        busiest.processes,
    )


def _compare(program: RealProgram, wanted: Wanted) -> list[str]:
    words = ["compare", "--allocators", wanted.subjects, "--rounds", str(wanted.rounds)]
    if program.standard_input:
        words += ["--input", str(program.standard_input)]
    if program.name == "git":
        prepare = program.folder / "prepare.sh"
        prepare.write_text("set -e\nrm -rf repository\n" + "\n".join(program.prepare))
        words += ["--prepare", f"sh {prepare}"]
    return [*words, "--", *program.command]


def _json(
    words: list[str], wanted: Wanted, folder: Path, environment: dict[str, str]
) -> tuple[dict[str, Any] | None, str]:
    """The result, or None with what the command said."""
    at = words.index("--") if "--" in words else len(words)
    options = ["--json", "--store", str(wanted.store)]
    # Native parts and packages of this checkout may be named by paths that are relative to it.
    paths = {"PYTHONPATH": os.pathsep.join(str(Path(each).resolve()) for each in sys.path if each)}
    done = subprocess.run(
        [*HEAPWISE, *words[:at], *options, *words[at:]],
        cwd=folder,
        env={**os.environ, **paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        return None, " ".join(done.stderr.split())[:300]
    found: dict[str, Any] = json.loads(done.stdout)
    return found, ""
