"""What recording costs: each part returns figures that a JSON file keeps."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from heapwise.catalog import DRAIN, PROFILER, RECORDER, native_part
from heapwise.runner.callgrind import total_in, under_callgrind
from heapwise.runner.recording import SAMPLE_EVERY
from heapwise.trace import open_trace
from heapwise.trace.columns import Kind
from recording.programs import RealProgram, real_programs
from recording.rivals import Rivals
from recording.run import Cost, run

LOAD = Path(__file__).with_name("load.cpp")
READER = Path(__file__).with_name("read.cpp")
NO_STACKS = 2**31
Figures = dict[str, Any]

READ = """
import resource, sys, time
from pathlib import Path
from heapwise.trace import open_trace
with open_trace(Path(sys.argv[1])) as trace:
    began, before, events = time.monotonic(), time.process_time(), 0
    for each in trace.events():
        events += len(each.kind)
    print(events / (time.monotonic() - began), events / (time.process_time() - before),
          resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def recorder(
    trace: Path, *, stack_every: int = 256, most_mib: int = 256, follows: bool = False
) -> list[str]:
    """The command before the program's own. follows: each child has a trace of its own."""
    return [
        str(native_part(DRAIN)),
        "-o",
        str(trace),
        "--recorder",
        str(native_part(RECORDER)),
        "--stack-every",
        str(stack_every),
        "--max-bytes",
        str(most_mib << 20),
        "--follow",
        str(int(follows)),
        "--result",
        f"{trace}.json",
        "--",
    ]


def profiler(trace: Path) -> list[str]:
    """The same for a sampled profile, as ``heapwise record --profile`` has it."""
    return [
        str(native_part(DRAIN)),
        "-o",
        str(trace),
        "--recorder",
        str(native_part(PROFILER)),
        "--stack-every",
        "1",
        "--sample-every",
        str(SAMPLE_EVERY),
        "--",
    ]


def compiled_load(folder: Path) -> Path:
    """The program that does little but allocate."""
    program = folder / "load"
    subprocess.run(
        ["c++", "-O2", "-fno-builtin", "-std=c++20", "-pthread", str(LOAD), "-o", str(program)],
        check=True,
    )
    return program


def compiled_reader(folder: Path) -> Path:
    """The program that reads the first window of a trace as the player does."""
    program, bench = folder / "read", Path("bench")
    subprocess.run(
        [
            "c++",
            "-O3",
            "-std=c++20",
            f"-I{bench}",
            str(READER),
            str(bench / "player" / "trace_reader.cpp"),
            "-lzstd",
            "-o",
            str(program),
        ],
        check=True,
    )
    return program


LOADS = (
    ("1 thread, caller only", 1, 2_000_000, NO_STACKS, 1024),
    ("1 thread, a stack of 1 in 256", 1, 2_000_000, 256, 1024),
    ("1 thread with the blocks of 8, caller only", 1, 2_000_000, NO_STACKS, 8192),
    ("8 threads, caller only", 8, 250_000, NO_STACKS, 1024),
    ("8 threads, a stack of 1 in 256", 8, 250_000, 256, 1024),
)
"""Name, threads, steps of each, allocations for a stack, live blocks of a thread."""


LONGER = 4
"""How many times as many calls the second run of a load makes. What it takes more has no start."""


def measure_load(folder: Path, rounds: int) -> Figures:
    """Nanoseconds of an event, for each round: by how much the load takes longer with the recorder.

    wall_ns: what a thread waits. program_ns: processor time of the program alone. processor_ns: the
    same with that of the drain. later_ns: the same of the events that a longer run has more, so
    without what the starts of the recording and of the threads take, and the first use of each page
    of their rings. starts_ms: the processor time of these. The ways take turns in being the first
    of a round.
    """
    load, trace = compiled_load(folder), folder / "load.hwt"
    processors = len(os.sched_getaffinity(0))
    found: Figures = {"processors": processors}
    for number in range(rounds):
        for name, threads, steps, stack_every, blocks in LOADS:
            ways = {}
            for times in (1, LONGER):
                command = [str(load), str(threads), str(times * steps), "0", str(blocks)]
                ways[f"plain {times}"] = command
                ways[f"recorded {times}"] = recorder(trace, stack_every=stack_every) + command
            costs = {way: run(ways[way], folder) for way in turned(list(ways), number)}
            short, long = (
                (costs[f"plain {times}"], costs[f"recorded {times}"]) for times in (1, LONGER)
            )
            for quantity, each in (
                _longer(*short, min(threads, processors)) | _later(short, long)
            ).items():
                found.setdefault(name, {}).setdefault(quantity, []).append(each)
    return found


def _later(short: tuple[Cost, Cost], long: tuple[Cost, Cost]) -> dict[str, float]:
    """What an event takes that is not one of the first, and what the starts take. Both pairs are a
    plain and a recorded run."""
    more, events = [], []
    for plain, recorded in (short, long):
        more.append(recorded.processor - plain.processor)
        events.append(float(plain.output.split()[2]))
    an_event = (more[1] - more[0]) / (events[1] - events[0])
    return {"later_ns": an_event * 1e9, "starts_ms": (more[0] - an_event * events[0]) * 1e3}


def _longer(plain: Cost, recorded: Cost, at_once: int) -> dict[str, float]:
    """at_once: how many threads run at the same time."""
    wall, own, events = map(float, plain.output.split())
    recorded_wall, recorded_own, _ = map(float, recorded.output.split())
    return {
        "wall_ns": (recorded_wall - wall) * at_once / events * 1e9,
        "program_ns": (recorded_own - own) / events * 1e9,
        "processor_ns": (recorded.processor - plain.processor) / events * 1e9,
    }


DRAINS = "heapwise::bench::process_trace::drain*"
"""The function of the drain that reads the rings of a process and writes its trace."""

TURNS = (
    ("1 thread", 1, 240_000, 0),
    ("8 threads that pass after 2 calls", 8, 30_000, 2),
    ("8 threads that pass after each call", 8, 30_000, 1),
)


def measure_turns(folder: Path) -> Figures:
    """Instructions of the drain, counted by callgrind, for threads that call by turns.

    changes: events that are of another thread than the one before. The load itself runs as it is:
    callgrind does not follow it.
    """
    load, found = compiled_load(folder), {}
    for name, threads, steps, calls in TURNS:
        trace, counts = folder / "turns.hwt", folder / "counts"
        valgrind, *options = under_callgrind(recorder(trace, stack_every=NO_STACKS), counts)
        # Not the looks at rings that are empty.
        run(
            [
                valgrind,
                f"--toggle-collect={DRAINS}",
                *options,
                str(load),
                str(threads),
                str(steps),
                str(calls),
            ],
            folder,
        )
        instructions = total_in(counts)
        if instructions == 0:
            raise RuntimeError(
                f"{native_part(DRAIN)} has no symbols, so nothing was counted: "
                "HEAPWISE_NATIVE=build/release/native names one that has them"
            )
        with open_trace(trace) as opened:
            threads_of_events = np.concatenate([each.thread for each in opened.events()])
        found[name] = {
            "instructions": instructions,
            "events": len(threads_of_events),
            "changes": int(np.count_nonzero(np.diff(threads_of_events))),
        }
    return found


TRUE = "/bin/true"


def measure_start(folder: Path, rounds: int) -> Figures:
    """Seconds of a program that does nothing, alone, recorded and profiled, in turns."""
    ways = {
        "plain": [TRUE],
        "heapwise": [*recorder(folder / "start.hwt"), TRUE],
        "profile": [*profiler(folder / "start.hwt"), TRUE],
    }
    found: Figures = {
        "wall_s": {name: [] for name in ways},
        "processor_s": {name: [] for name in ways},
    }
    for number in range(rounds):
        for name in turned(list(ways), number):
            cost = run(ways[name], folder)
            found["wall_s"][name].append(cost.wall)
            found["processor_s"][name].append(cost.processor)
    return found


def measure_programs(
    folder: Path, rounds: int, names: list[str], *, small: bool, rivals: Rivals
) -> Iterator[tuple[str, Figures]]:
    """Time of each program: plain, recorded, profiled, under heaptrack and memray, in turns."""
    for program in real_programs(folder, small=small, only=names):
        ways = ways_of(program, rivals)
        times: dict[str, list[float]] = {name: [] for name in ways}
        processor: dict[str, list[float]] = {name: [] for name in ways}
        failed: dict[str, str] = {}
        for number in range(rounds):
            for name in turned(list(ways), number):
                if name in failed:
                    continue
                if program.name == "git":
                    subprocess.run(["rm", "-rf", "repository"], cwd=program.folder, check=True)
                    program.begin()
                try:
                    cost = _timed(ways[name], program)
                except subprocess.CalledProcessError as error:
                    if name in {"plain", "heapwise", "profile"}:
                        raise
                    failed[name] = str(error)  # such as heaptrack of what starts a server
                    continue
                times[name].append(cost.wall)
                processor[name].append(cost.processor)
        recorded = json.loads((program.folder / "trace.hwt.json").read_text())["processes"]
        yield (
            program.name,
            {
                "wall_s": {name: each for name, each in times.items() if name not in failed},
                "processor_s": {
                    name: each for name, each in processor.items() if name not in failed
                },
                "failed": failed,
                "processes": len(recorded),
                "events": sum(each["kept_events"] for each in recorded),
                "bytes": sum(each["bytes"] for each in recorded),
            },
        )


def turned(names: list[str], number: int) -> list[str]:
    """Their order in the round of this number: each begins as often as the others."""
    first = number % len(names)
    return names[first:] + names[:first]


def ways_of(program: RealProgram, rivals: Rivals) -> dict[str, list[str]]:
    """The commands that run the program: alone, and under each recorder that can record it."""
    ways = {
        "plain": program.command,
        "heapwise": recorder(program.folder / "trace.hwt", follows=True) + program.command,
        "profile": profiler(program.folder / "profile.hwt") + program.command,
    }
    if rivals.heaptrack:
        ways["heaptrack"] = [
            rivals.heaptrack,
            "-o",
            str(program.folder / "heaptrack"),
            *program.command,
        ]
    if rivals.memray_python and program.name == "python3":
        python = str(rivals.memray_python)
        script = program.command[program.command.index("-s") + 1 :]
        ways["plain, memray's python"] = [python, *script]
        ways["memray"] = [
            python,
            "-m",
            "memray",
            "run",
            "-f",
            "-q",
            "-o",
            str(program.folder / "memray.bin"),
            *script,
        ]
    return ways


def _timed(command: list[str], program: RealProgram) -> Cost:
    return run(
        command,
        program.folder,
        standard_input=program.standard_input,
        environment=program.environment,
    )


def measure_limit(folder: Path, events: int, limits: list[int]) -> Figures:
    """Size of the file under each limit in MiB, and how fast and in what memory it is read."""
    load, reader, found = compiled_load(folder), compiled_reader(folder), {}
    for most_mib in limits:
        trace = folder / f"limit{most_mib}.hwt"
        recorded = run(
            [
                *recorder(trace, stack_every=NO_STACKS, most_mib=most_mib),
                str(load),
                "1",
                str(events // 2),
            ],
            folder,
        )
        summary = json.loads(Path(f"{trace}.json").read_text())
        rate, of_processor, memory = map(
            float,
            subprocess.run(
                [sys.executable, "-c", READ, str(trace)], check=True, capture_output=True, text=True
            ).stdout.split(),
        )
        played = run([reader, trace], folder).output.split()
        found[str(most_mib)] = {
            "player_events_per_s": float(played[0]),
            "player_bytes": float(played[1]),
            "events": summary["events"],
            "kept": summary["kept_events"],
            "seconds": recorded.wall,
            "missing": _missing(summary, events // 2),
            "bytes": trace.stat().st_size,
            "events_per_s": rate,
            "events_per_processor_s": of_processor,
            "reader_bytes": memory,
        }
        trace.unlink()
    return found


def _missing(summary: dict[str, Any], steps: int) -> int:
    """How many calls of the load are not in the totals, or not with their blocks. Each of its steps
    makes a block, and in the end it has freed all of them."""
    wrong: int = sum(summary[each] for each in ("events_missed", "unknown_ends", "lost_ends"))
    frees: int = summary["calls"][Kind.FREE]
    return abs(steps - frees) + wrong


def median(numbers: list[float]) -> float:
    """Of all rounds."""
    return statistics.median(numbers)


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for traces that ends with the run."""
    return tempfile.TemporaryDirectory(prefix="recording-costs-")
