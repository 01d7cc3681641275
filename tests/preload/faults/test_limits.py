"""Limits of address space and data: the heap shrinks what it keeps for itself, and works."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MIB = 1 << 20
NOT_STARTED = 127
MOST_LINES = 3
MOST_MIB = 600  # taken and written to; not more than a small machine has


def run_limited(heap: Any, limit: str, size_bytes: int | str, *command: str | Path) -> Any:
    """A command under a limit that holds for it alone, not for those who start it."""
    preload = [f"LD_PRELOAD={heap.library}"] if heap.library else []
    return subprocess.run(
        ["prlimit", f"--{limit}={size_bytes}", "env", "-i", *preload, *command],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def limited(heap: Any, compiled: Any, limit: str, mib: int, size: int) -> Any:
    """``limited.c`` under a limit."""
    most_mib = min(mib * 2, MOST_MIB)
    return run_limited(
        heap, limit, mib * MIB, compiled(HERE / "limited.c"), str(size), str(most_mib)
    )


@pytest.mark.parametrize("limit", ["as", "data"])
@pytest.mark.parametrize("mib", [8, 16, 32, 64, 256, 1024, 8192])
def test_memory_below_the_limit_can_be_used(heap: Any, compiled: Any, limit: str, mib: int) -> None:
    """Below 64 MiB it may also stop at the start, with a few clear lines. The profile hardened
    takes a slice more for some large blocks, by chance, so one block in few may be missing."""
    for size in (100, 5000, 300000):
        done = limited(heap, compiled, limit, mib, size)
        assert done.returncode >= 0, f"ended by a signal: {done}"
        assert "not true" not in done.stderr, done.stderr
        if mib < 64 and done.returncode != 0:
            assert 1 <= len(done.stderr.splitlines()) <= MOST_LINES, done
            continue
        assert done.returncode == 0, done
        first, second = (int(kib) / 1024 for kib in done.stdout.split())
        wanted = min(mib / 3, MOST_MIB) if mib >= 64 else 0
        assert first >= wanted, f"{first:.1f} MiB of {mib} in blocks of {size}"
        missing = size / MIB if "hardened" in heap.library.name else 0
        assert second >= first * 0.9 - missing, (
            f"{first:.1f} MiB, {second:.1f} after it was given back"
        )


def test_a_program_that_raises_its_limit(heap: Any, compiled: Any) -> None:
    """A limit that was in force when the heap began does not hold for ever."""
    soft_only = f"{64 * MIB}:unlimited"
    done = run_limited(heap, "as", soft_only, compiled(HERE / "raises_limit.c"), "500")
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert before < 64
    assert after == 500


@pytest.mark.parametrize("kib", [70_001, 100_000, 333_333, 1_000_000, 1_234_567, 5_000_011])
def test_every_alignment_under_any_limit(heap: Any, compiled: Any, kib: int) -> None:
    """A limit that is not a power of two must not shift the addresses of the blocks."""
    done = run_limited(heap, "as", kib * 1024, compiled(HERE / "aligned.c"))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) == 17 * 12, done.stdout


@pytest.mark.parametrize("stack", ["", "ulimit -s unlimited; "], ids=["", "stack unlimited"])
@pytest.mark.parametrize("mib", [200, 512])
def test_a_program_that_limits_itself(heap: Any, compiled: Any, mib: int, stack: str) -> None:
    """A limit of addresses that is set after the start counts what the heap uses, not its range."""
    program = compiled(HERE / "limits_itself.c")
    done = heap.run("/bin/sh", "-c", f"{stack}exec {program} {mib}")
    assert done.status == 0, done.err
    first, second = map(int, done.out.split())
    assert mib * 0.7 <= first <= mib * 1.5, f"{first} MiB of {mib}"
    assert second >= first * 0.9, f"{first} MiB, and {second} after it was given back"


def test_a_block_can_shrink_when_there_is_no_memory_left(heap: Any, compiled: Any) -> None:
    done = heap.run(compiled(HERE / "shrinks.c"))
    assert (done.status, done.err) == (0, "")
    assert done.out.decode().split() == ["block", "0"] * 2


def test_blocks_that_are_free_in_another_shard_are_used_before_memory_is_short(
    heap: Any, compiled: Any
) -> None:
    limits = {"HEAPWISE_MALLOC_SHARDS": "2", "HEAPWISE_MALLOC_LIMIT_MIB": "32"}
    done = heap.run(compiled(HERE / "other_shard.c", "-pthread"), **limits)
    assert (done.status, done.err) == (0, "")
    assert int(done.out) >= 50


def test_more_than_the_machine_has_is_refused_at_once(heap: Any, compiled: Any) -> None:
    if Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "1":
        pytest.skip("the system refuses nothing")
    done = heap.run(compiled(HERE / "too_much.c"))
    assert (done.status, done.out, done.err) == (0, b"NULL NULL\n", "")
