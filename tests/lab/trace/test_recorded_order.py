"""A replay in the recorded order does not spend its time on threads that wait for their turns."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from planted_sites.programs import build

from heapwise.catalog import SCRIPT_MAKER, native_part
from heapwise.natives import native_folder
from heapwise.study.replay.ask import SCRIPT_HEADER
from heapwise.trace import open_trace

Record = Callable[..., Path]

MALLOC, FREE, START, TURN, PASS = 0, 5, 10, 11, 12
STEP, PART = struct.Struct("<QII"), struct.Struct("<QQQ")
MAGIC = int.from_bytes(b"HSCRPT06", "little")


def step(kind: int, size: int = 0, slot: int = 0) -> bytes:
    return STEP.pack(kind | size << 13, slot, 0)


def script_of_turns(turns: list[int], threads: int) -> bytes:
    """In each turn a thread makes a block and ends it. The first turn is of thread 0."""
    parts: list[list[bytes]] = [[] for _ in range(threads)]
    parts[0] = [step(START, slot=number) for number in range(1, threads)]
    for done, (thread, following) in enumerate(zip(turns, [*turns[1:], turns[-1]], strict=True)):
        parts[thread] += [
            step(TURN, 2 * done),
            step(MALLOC, 64),
            step(FREE, 64),
            step(PASS, 2 * done + 2, following),
        ]
    header = SCRIPT_HEADER.pack(
        MAGIC,
        threads,
        sum(map(len, parts)),
        0,
        2 * len(turns),
        len(turns),
        64 * len(turns),
        64,
        0,
        0,
        0,
    )
    index, first = b"", 0
    for part in parts:
        index += PART.pack(first, len(part), 1)
        first += len(part)
    return header + index + b"".join(b"".join(part) for part in parts)


def context_switches(script: Path) -> int:
    """Of a replay in the recorded order, which does the work of the script."""
    player = subprocess.Popen(
        [
            str(native_folder() / "experiments" / "trace" / "replay"),
            "--subject",
            "malloc",
            "--set",
            "schedule=order",
            "--set",
            "touch=line",
        ],
        env={**os.environ, "HEAPWISE_SCRIPT": str(script)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert player.stdout is not None
    lines = [json.loads(line) for line in player.stdout]
    _, status, usage = os.wait4(player.pid, 0)
    player.returncode = os.waitstatus_to_exitcode(status)
    assert [line["ok"] for line in lines if line.get("id") == "work"] == [True], lines
    return usage.ru_nvcsw + usage.ru_nivcsw


@pytest.mark.parametrize("threads", [8, 32])
def test_a_turn_of_many_threads_costs_one_switch(tmp_path: Path, threads: int) -> None:
    """A switch to the thread whose turn it is, and some back to the one that woke it. If waiting
    threads took the processor by turns, it would be about half as many as there are threads."""
    chosen = random.Random(1)
    turns = [0, *(chosen.randrange(threads) for _ in range(9_999))]
    script = tmp_path / "script"
    script.write_bytes(script_of_turns(turns, threads))
    assert context_switches(script) < 2 * len(turns)


def test_a_turn_names_the_thread_that_is_next(record: Record, tmp_path: Path) -> None:
    """Else the thread whose turn it is would sleep for ever."""
    trace, script = record(build("hand_over", tmp_path, changed=False), "2000"), tmp_path / "script"
    with open_trace(trace) as opened:
        unit = opened.ns_a_unit
    subprocess.run(
        [str(native_part(SCRIPT_MAKER)), str(trace), "0", repr(unit), str(script)],
        check=True,
        capture_output=True,
    )
    content = script.read_bytes()
    _, threads, steps, *_ = SCRIPT_HEADER.unpack_from(content)
    first = len(content) - steps * STEP.size
    begins: dict[int, int] = {}
    passes: dict[int, int] = {}
    for number in range(threads):
        begin, count, _ = PART.unpack_from(content, SCRIPT_HEADER.size + number * PART.size)
        for words, slot, _ in STEP.iter_unpack(
            content[first + begin * STEP.size : first + (begin + count) * STEP.size]
        ):
            if words & 31 == TURN:
                begins[words >> 13] = number
            elif words & 31 == PASS:
                passes[words >> 13] = slot
    assert len(begins) > 2
    assert {done: passes[done] for done in begins if done} == {
        done: number for done, number in begins.items() if done
    }
