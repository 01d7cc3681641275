"""Threads that come and go, that only free, that are interrupted: no deadlock, bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SLACK_KIB = 4096  # stacks of threads, and what a heap is allowed to cost that holds next to nothing


def two_numbers(done: Any) -> tuple[int, int]:
    assert done.status == 0, done.err
    first, second = done.out.split()
    return int(first), int(second)


def test_profiler_that_takes_backtraces(heap: Any, compiled: Any) -> None:
    done = heap.run(compiled(HERE / "profiled.c"), "800", timeout_s=120)
    assert (done.status, done.out) == (0, b"done\n"), done.err


def test_memory_stays_flat_while_threads_come_and_go(heap: Any, compiled: Any) -> None:
    done = heap.run(compiled(HERE / "thread_churn.c"), "10000", timeout_s=240)
    warm_kib, last_kib = two_numbers(done)
    assert last_kib <= warm_kib + SLACK_KIB, f"{warm_kib} KiB grew to {last_kib} KiB"


# Sixteen producers need a live set that is large beside what each keeps for itself and each class
# for all, some 20 MiB whatever is live: with less, the bound would be one of these constants.
@pytest.mark.parametrize(
    ("producers", "consumers", "live_mib", "bound"),
    [
        ("16", "1", "128", 1.3),
        ("1", "1", "64", 2.0),
        ("4", "4", "64", 2.0),
        ("1", "8", "64", 2.0),
    ],
)
def test_memory_freed_by_other_threads_is_used_again(
    heap: Any, compiled: Any, producers: str, consumers: str, live_mib: str, bound: float
) -> None:
    program = compiled(HERE / "freed_elsewhere.c")
    live_kib, resident_kib = two_numbers(
        heap.run(program, producers, consumers, live_mib, "12", timeout_s=240)
    )
    if heap.is_ours:
        assert resident_kib <= bound * live_kib + SLACK_KIB, (
            f"{resident_kib} KiB resident for {live_kib} KiB live: {resident_kib / live_kib:.2f}"
        )


def test_a_program_that_takes_every_key_of_threads(heap: Any, compiled: Any) -> None:
    """The heap has one since it was loaded: it learns of the ends of threads by it."""
    if not heap.is_ours:
        pytest.skip("another library may take its key later, or none")
    done = heap.run(compiled(HERE / "thread_keys.c"))
    assert (done.status, done.out) == (0, b"done\n"), done.err


@pytest.mark.parametrize("shards", ["4", "16", "32"])
def test_one_thread_uses_as_much_memory_on_a_machine_with_many_processors(
    heap: Any, compiled: Any, shards: str
) -> None:
    """The heap would have this many shards there, and the thread comes to all processors."""
    if not heap.is_ours:
        pytest.skip("an option of this library")
    program = compiled(HERE / "one_thread.c")
    few, many = (
        heap.run(program, HEAPWISE_MALLOC_SHARDS=count, HEAPWISE_MALLOC_PURGE_THREAD="0")
        for count in ("1", shards)
    )
    assert int(few.out) > 0
    # Which of its free places a block gets is random in hardened: a span may be needed or not.
    most_apart_kib = 64 if "hardened" in heap.name else 0
    assert abs(int(many.out) - int(few.out)) <= most_apart_kib
