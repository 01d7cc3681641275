"""The player finds every difference between what it did and what the script wants (V24)."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from planted_sites.programs import build

from heapwise.catalog import SCRIPT_MAKER, native_part
from heapwise.natives import native_folder
from heapwise.study.replay.ask import SCRIPT_HEADER
from heapwise.trace import open_trace

Record = Callable[..., Path]

FIELDS = {"calls": 4, "blocks": 5, "bytes": 6, "peak": 7}
"""Numbers of the header that a replay has to find again."""

RESIZE, SCALAR_NEW, FREE, WAIT_FOR_END = 8, 3, 5, 17
STEP = struct.Struct("<QII")
ENDS = {5, 6, 7}
PART = struct.Struct("<QQQ")
BLOCKS_BETWEEN_WAITS = 16


def script_of(trace: Path, script: Path) -> bytearray:
    with open_trace(trace) as opened:
        unit = opened.ns_a_unit
    subprocess.run(
        [str(native_part(SCRIPT_MAKER)), str(trace), "0", repr(unit), str(script)],
        check=True,
        capture_output=True,
    )
    return bytearray(script.read_bytes())


def work(script: Path, schedule: str) -> tuple[bool, str]:
    """Whether the work of a sample was that of the script, and what the player says of it."""
    said = subprocess.run(
        [
            str(native_folder() / "experiments" / "trace" / "replay"),
            "--subject",
            "malloc",
            "--set",
            f"schedule={schedule}",
            "--set",
            "touch=line",
        ],
        env={**os.environ, "HEAPWISE_SCRIPT": str(script)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    ).stdout
    checks = [
        line
        for line in map(json.loads, said.splitlines())
        if line.get("kind") == "check" and line.get("id") == "work"
    ]
    assert checks, said
    return all(check["ok"] for check in checks), checks[0]["detail"]


@pytest.mark.parametrize("schedule", ["fast", "order"])
@pytest.mark.parametrize("mode", [("grow", "2000"), ("threads", "20")])
def test_a_whole_script_is_played_as_it_says(
    known: Path, record: Record, tmp_path: Path, mode: tuple[str, str], schedule: str
) -> None:
    """`grow` resizes up, so that the live bytes of a resized block are followed, too."""
    script = tmp_path / "script"
    header = SCRIPT_HEADER.unpack_from(script_of(record(known, *mode), script))
    ok, detail = work(script, schedule)
    assert ok, detail
    assert f"peak {header[7]} of {header[7]}" in detail


@pytest.mark.parametrize("schedule", ["fast", "order"])
def test_blocks_of_an_old_image_end_when_the_process_calls_exec(
    record: Record, tmp_path: Path, schedule: str
) -> None:
    """The shell's blocks do not live beside those of the program that it becomes."""
    script = tmp_path / "script"
    trace = record("sh", "-c", f"exec {sys.executable} -I -c 'print(1)'")
    with open_trace(trace) as opened:
        summary = opened.summary
    header = SCRIPT_HEADER.unpack_from(script_of(trace, script))
    assert summary is not None
    assert summary.images == 2
    assert (header[7], header[8]) == (summary.peak_live_bytes, summary.end_live_blocks)
    ok, detail = work(script, schedule)
    assert ok, detail


RESIZES = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  void* volatile kept[100];
  for (int i = 0; i < 100; ++i) kept[i] = malloc(100);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i) kept[i] = realloc(kept[i], 1000 + (size_t)i);
    _exit(0);
  }
  int status = 1;
  return waitpid(child, &status, 0) != child || status != 0;
}
"""


def test_a_forked_child_resizes_blocks_of_its_parent(tmp_path: Path) -> None:
    """The trace of the child does not know them: what they become is as new."""
    words = ["cc", "-xc", "-", "-O1", "-o", "resizes"]
    subprocess.run(words, input=RESIZES, text=True, cwd=tmp_path, check=True)
    words = [sys.executable, "-m", "heapwise", "record", "--follow", "-o", "r.hwt", "--"]
    subprocess.run([*words, "./resizes"], cwd=tmp_path, check=True, capture_output=True)
    (trace,) = tmp_path.glob("r.*.hwt")
    script = tmp_path / "script"
    header = SCRIPT_HEADER.unpack_from(script_of(trace, script))
    assert header[5] == 100
    ok, detail = work(script, "order")
    assert ok, detail


@pytest.mark.parametrize("field", FIELDS)
def test_a_planted_difference_in_the_totals_is_found(
    known: Path, record: Record, tmp_path: Path, field: str
) -> None:
    script = tmp_path / "script"
    content = script_of(record(known, "grow", "200"), script)
    at = FIELDS[field] * 8
    struct.pack_into("<Q", content, at, struct.unpack_from("<Q", content, at)[0] + 1)
    script.write_bytes(content)
    ok, detail = work(script, "order")
    assert not ok
    assert field in detail


def test_a_block_of_another_size_is_found(known: Path, record: Record, tmp_path: Path) -> None:
    """One step of the script asks for a byte more than the trace says."""
    script = tmp_path / "script"
    content = script_of(record(known, "threads", "5"), script)
    _, threads, steps, *_ = SCRIPT_HEADER.unpack_from(content)
    first = len(content) - steps * STEP.size
    assert threads > 1
    for at in range(first, len(content), STEP.size):
        words, slot, target = STEP.unpack_from(content, at)
        if words & 31 == 0 and words >> 13:
            STEP.pack_into(content, at, words + (1 << 13), slot, target)
            break
    script.write_bytes(content)
    ok, detail = work(script, "fast")
    assert not ok
    assert "bytes" in detail


def test_threads_that_run_freely_are_not_held_to_the_recorded_peak(
    known: Path, record: Record, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    content = script_of(record(known, "threads", "5"), script)
    at = FIELDS["peak"] * 8
    struct.pack_into("<Q", content, at, struct.unpack_from("<Q", content, at)[0] + 1)
    script.write_bytes(content)
    assert work(script, "fast")[0]
    assert not work(script, "order")[0]


@pytest.fixture
def hand_over(record: Record, tmp_path: Path) -> Path:
    """Of a program in which one thread makes blocks and another one ends them."""
    path = tmp_path / "script"
    script_of(record(build("hand_over", tmp_path, changed=False), "20000"), path)
    return path


def steps_of_threads(script: Path) -> list[list[tuple[int, bool, int]]]:
    """Kind, whether the slot is shared, and the slot, of each step."""
    content = script.read_bytes()
    _, threads, steps, *_, pooled, prepared = SCRIPT_HEADER.unpack_from(content)
    assert pooled == prepared == 0
    first = len(content) - steps * STEP.size
    found = []
    for number in range(threads):
        begin, count, _ = PART.unpack_from(content, SCRIPT_HEADER.size + number * PART.size)
        found.append(
            [
                (words & 31, bool(words >> 5 & 1), slot)
                for words, slot, _ in STEP.iter_unpack(
                    content[first + begin * STEP.size : first + (begin + count) * STEP.size]
                )
            ]
        )
    return found


def test_a_thread_waits_for_ends_of_blocks_that_it_has_made(hand_over: Path) -> None:
    maker, ender = steps_of_threads(hand_over)
    ended = {
        slot: order
        for order, slot in enumerate(
            slot for kind, shared, slot in ender if kind in ENDS and shared
        )
    }
    slots: set[int] = set()
    since_wait, most_unended, waits = 0, 0, 0
    for kind, shared, slot in maker:
        if kind == WAIT_FOR_END:
            assert slot in slots
            most_unended = max(most_unended, len(slots) - ended[slot] - 1)
            since_wait, waits = 0, waits + 1
        elif shared:
            slots.add(slot)
            since_wait += 1
            assert since_wait <= BLOCKS_BETWEEN_WAITS or waits == 0
    assert waits > 100
    # Places of the program's queue, and the block in the hand of each thread.
    assert most_unended <= 4096 + 2


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two threads that wait for each other")
@pytest.mark.parametrize("schedule", ["fast", "order"])
def test_no_thread_waits_for_ever(hand_over: Path, schedule: str) -> None:
    ok, detail = work(hand_over, schedule)
    assert ok, detail
