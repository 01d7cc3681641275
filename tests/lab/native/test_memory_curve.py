"""The launcher's looks at the memory of a process tree, against programs whose memory is known."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from heapwise.model import MemoryCurve

MIB = 1024
"""In KiB."""


def curve(launch: Any, program: str, moments: int = 256) -> MemoryCurve:
    result = launch(sys.executable, "-c", program, options=["--memory-moments", str(moments)])
    assert result["exit_code"] == 0
    return msgspec.convert(result["memory"], MemoryCurve)


GROWING = """
import time
blocks = []
for _ in range(20):
    blocks.append(bytearray(4 << 20))
    time.sleep(0.05)
time.sleep(0.3)
"""


def test_a_growing_program_has_a_rising_curve(launch: Any) -> None:
    found = curve(launch, GROWING)
    assert found.looks >= 5
    assert found.at_ms == sorted(found.at_ms)
    assert found.proportional_kib[0] < 40 * MIB
    assert 80 * MIB <= found.peak_kib <= 110 * MIB
    assert max(found.proportional_kib[-3:]) >= 80 * MIB  # the last look may be of its end
    assert set(found.processes) == {1}
    assert set(found.unread) == {0}


def test_nobody_looks_if_nobody_asks(launch: Any, toy: str) -> None:
    assert launch(toy, "exit", "0")["memory"] is None


def test_a_program_without_a_control_group_has_a_reason(launch: Any, toy: str) -> None:
    """What is in a group of its own is tested in a virtual machine (tests/kernel)."""
    found = launch(toy, "exit", "0", options=["--memory-moments", "8"])
    has_own = found["group"] is not None and found["group"]["own"]
    assert has_own == (found["group_missing"] is None)
    unasked = launch(toy, "exit", "0")
    assert (unasked["group"], unasked["group_missing"]) == (None, None)


def test_few_moments_are_kept_and_the_peak_too(launch: Any) -> None:
    """What is dropped still counts for the peak."""
    program = """
import time
def use(): return bytearray(64 << 20)
block = use(); time.sleep(0.3); del block
time.sleep(1.5)
"""
    found = curve(launch, program, moments=4)
    assert len(found.at_ms) <= 4 < found.looks
    assert found.peak_kib >= 64 * MIB
    assert found.last_kib < 40 * MIB


def test_pages_that_a_fork_shares_count_once(launch: Any) -> None:
    """64 MiB in two processes are 64 MiB; 32 MiB that the child makes come beside."""
    program = """
import os, time
block = bytearray(64 << 20)
time.sleep(0.1)
if os.fork() == 0:
    time.sleep(0.6)
    other = bytearray(32 << 20)
    time.sleep(0.8)
    os._exit(0)
os.wait()
"""
    found = curve(launch, program)
    assert max(found.processes) == 2
    assert 90 * MIB <= found.peak_kib <= 125 * MIB


def test_a_program_that_was_executed_counts_whole(launch: Any) -> None:
    child = "import time; block = bytearray(48 << 20); time.sleep(0.8)"
    program = f"""
import subprocess, sys, time
block = bytearray(64 << 20)
time.sleep(0.1)
subprocess.run([sys.executable, "-c", {child!r}], check=True)
"""
    found = curve(launch, program)
    assert found.peak_kib >= 112 * MIB


def test_looks_take_a_thousandth_of_the_time(launch: Any) -> None:
    """A look waits until all before it, and itself, are a thousandth of the time. What it will cost
    is known from the look before, so there is room for a cost that differs."""
    result = launch(sys.executable, "-c", "import time; b = bytearray(200 << 20); time.sleep(3)",
                    options=["--memory-moments", "64"])
    found = msgspec.convert(result["memory"], MemoryCurve)
    assert found.looks >= 5
    assert found.cost_ns <= 1.5 * 1e9 * result["wall_s"] / 1000


def test_pages_are_not_counted_if_that_costs_too_much(launch: Any) -> None:
    """To count 400 MiB takes 6 ms, for which a program of a second is too short. The last look may
    be of its end, when it has given its memory back and a count is cheap."""
    found = curve(launch, "import time; b = bytearray(b'x') * (400 << 20); time.sleep(1)")
    whole = [counted for counted, kib in zip(found.counted, found.proportional_kib, strict=True)
             if kib >= 100 * MIB]
    assert whole
    assert not any(whole)
    assert 400 * MIB <= found.peak_kib <= 440 * MIB


def test_the_first_count_corrects_what_was_taken_for_its_own(launch: Any) -> None:
    """The libraries of python are this test's too; before the first count they are taken for the
    program's own."""
    found = curve(launch, "import time; time.sleep(2)")
    first = found.counted.index(True)
    assert first > 0
    assert found.proportional_kib[0] <= found.proportional_kib[first] + 64
    assert found.peak_kib <= max(found.proportional_kib[first:]) + 64
