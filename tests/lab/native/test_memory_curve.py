"""The launcher's looks at the memory of a process tree, against programs whose memory is known.

A look may come late if the machine does something else, and then a short state of the program is
not seen. So a program that was not seen as it is runs again, ever more slowly; what is wrong with
the looks themselves is wrong at every speed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from heapwise.model import MemoryCurve

MIB = 1024
"""In KiB."""

SLOWER = (1, 3, 9)
"""How many times as long the naps of a program are, one attempt after the other."""

NAPS = """
import time
SLOWER = {slower}
def nap(seconds): time.sleep(SLOWER * seconds)
"""

Claim = Callable[[MemoryCurve, float], None]
"""Fails if the curve of a program that ran for this many seconds is wrong."""


def curve(launch: Any, program: str, slower: int, moments: int) -> tuple[MemoryCurve, float]:
    result = launch(
        sys.executable,
        "-c",
        NAPS.format(slower=slower) + program,
        options=["--memory-moments", str(moments)],
    )
    assert result["exit_code"] == 0
    return msgspec.convert(result["memory"], MemoryCurve), result["wall_s"]


def demand(claim: Claim, launch: Any, program: str, moments: int = 256) -> None:
    for slower in SLOWER:
        found, seconds = curve(launch, program, slower, moments)
        try:
            return claim(found, seconds)
        except AssertionError:
            if slower == SLOWER[-1]:
                raise
    return None


GROWING = """
blocks = []
for _ in range(20):
    blocks.append(bytearray(4 << 20))
    nap(0.05)
nap(0.3)
"""


def test_a_growing_program_has_a_rising_curve(launch: Any) -> None:
    def claim(found: MemoryCurve, _: float) -> None:
        assert found.looks >= 5
        assert found.at_ms == sorted(found.at_ms)
        assert found.proportional_kib[0] < 40 * MIB
        assert 80 * MIB <= found.peak_kib <= 110 * MIB
        assert max(found.proportional_kib[-3:]) >= 80 * MIB  # the last look may be of its end
        assert set(found.processes) == {1}
        assert set(found.unread) == {0}

    demand(claim, launch, GROWING)


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
def use(): return bytearray(64 << 20)
block = use(); nap(0.3); del block
nap(1.5)
"""

    def claim(found: MemoryCurve, _: float) -> None:
        assert len(found.at_ms) <= 4 < found.looks
        assert found.peak_kib >= 64 * MIB
        assert found.last_kib < 40 * MIB

    demand(claim, launch, program, moments=4)


def test_pages_that_a_fork_shares_count_once(launch: Any) -> None:
    """64 MiB in two processes are 64 MiB; 32 MiB that the child makes come beside."""
    program = """
import os
block = bytearray(64 << 20)
nap(0.1)
if os.fork() == 0:
    nap(0.6)
    other = bytearray(32 << 20)
    nap(0.8)
    os._exit(0)
os.wait()
"""

    def claim(found: MemoryCurve, _: float) -> None:
        assert max(found.processes) == 2
        assert 90 * MIB <= found.peak_kib <= 125 * MIB

    demand(claim, launch, program)


def test_a_program_that_was_executed_counts_whole(launch: Any) -> None:
    program = """
import subprocess, sys
block = bytearray(64 << 20)
nap(0.1)
child = "import sys, time; block = bytearray(48 << 20); time.sleep(float(sys.argv[1]))"
subprocess.run([sys.executable, "-c", child, str(0.8 * SLOWER)], check=True)
"""

    def claim(found: MemoryCurve, _: float) -> None:
        assert found.peak_kib >= 112 * MIB

    demand(claim, launch, program)


def test_looks_take_a_thousandth_of_the_time(launch: Any) -> None:
    """A look waits until all before it, and itself, are a thousandth of the time. What it will cost
    is known from the look before, so there is room for a cost that differs."""

    def claim(found: MemoryCurve, seconds: float) -> None:
        assert found.looks >= 5
        assert found.cost_ns <= 1.5 * 1e9 * seconds / 1000

    demand(claim, launch, "b = bytearray(200 << 20); nap(3)", moments=64)


def test_pages_are_not_counted_if_that_costs_too_much(launch: Any) -> None:
    """To count 400 MiB takes 6 ms, for which a program of less than twelve seconds is too short.
    The last look may be of its end, when it has given its memory back and a count is cheap."""

    def claim(found: MemoryCurve, _: float) -> None:
        whole = [
            counted
            for counted, kib in zip(found.counted, found.proportional_kib, strict=True)
            if kib >= 100 * MIB
        ]
        assert whole
        assert not any(whole)
        assert 400 * MIB <= found.peak_kib <= 440 * MIB

    demand(claim, launch, "b = bytearray(b'x') * (400 << 20); nap(1)")


def test_the_first_count_corrects_what_was_taken_for_its_own(launch: Any) -> None:
    """The libraries of python are this test's too; before the first count they are taken for the
    program's own."""

    def claim(found: MemoryCurve, _: float) -> None:
        assert True in found.counted
        first = found.counted.index(True)
        assert first > 0
        assert found.proportional_kib[0] <= found.proportional_kib[first] + 64
        assert found.peak_kib <= max(found.proportional_kib[first:]) + 64

    demand(claim, launch, "nap(2)")
