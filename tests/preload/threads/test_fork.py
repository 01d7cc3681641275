"""fork in processes of many threads, of one, and from signal handlers: the child may use malloc."""

from __future__ import annotations

import platform
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PATIENCE_S = "30"
NOT_PERMITTED = 77


def test_storm_in_fresh_processes(heap: Any, compiled: Any) -> None:
    """Fresh ones, because the window while an allocator sets itself up closes early."""
    program = compiled(HERE / "fork_storm.c")
    for _ in range(100):
        done = heap.run(program, "1", PATIENCE_S, timeout_s=120)
        assert (done.status, done.out) == (0, b"done\n"), done.err


def test_storm_that_lasts(heap: Any, compiled: Any) -> None:
    done = heap.run(compiled(HERE / "fork_storm.c"), "60", PATIENCE_S, timeout_s=120)
    assert (done.status, done.out) == (0, b"done\n"), done.err


def test_storm_among_shards(heap: Any, compiled: Any) -> None:
    done = heap.run(
        compiled(HERE / "fork_storm.c"), "20", PATIENCE_S, timeout_s=120, HEAPWISE_MALLOC_SHARDS="2"
    )
    assert (done.status, done.out) == (0, b"done\n"), done.err


def test_the_clock_may_take_spare_batches_while_others_fork(heap: Any, compiled: Any) -> None:
    """A child neither shares a block with itself nor waits for what its parent had in hand."""
    if not heap.is_ours:
        pytest.skip("other heaps have no clock")
    program = compiled(HERE / "spares_at_fork.c")
    done = heap.run(program, "20", timeout_s=120, HEAPWISE_MALLOC_PURGE_DELAY_MS="4")
    assert (done.status, done.out) == (0, b"done\n"), done.err


@pytest.mark.parametrize("shards", ["1", "3"])
def test_a_child_does_not_count_the_threads_of_its_parent(
    heap: Any, compiled: Any, shards: str
) -> None:
    if not heap.is_ours:
        pytest.skip("other heaps have no such statistics")
    program = compiled(HERE / "counts_after_fork.c")
    done = heap.run(program, HEAPWISE_MALLOC_SHARDS=shards)
    assert (done.status, done.out) == (0, b"done\n"), done.err


@pytest.mark.parametrize("call", ["fork", "_Fork"])
def test_fork_in_a_signal_handler(heap: Any, compiled: Any, call: str) -> None:
    done = heap.run(compiled(HERE / "fork_in_handler.c"), call, "1500", timeout_s=120)
    assert (done.status, done.out) == (0, b"done\n"), done.err


def test_fork_in_a_signal_handler_while_the_heap_gives_memory_back(
    heap: Any, compiled: Any
) -> None:
    """The clock is the heap's own thread. The main thread may hold the lock that it waits for."""
    done = heap.run(
        compiled(HERE / "fork_in_handler.c"),
        "fork",
        "400",
        "much",
        timeout_s=120,
        HEAPWISE_MALLOC_PURGE_DELAY_MS="20",
    )
    assert (done.status, done.out) == (0, b"done\n"), done.err


def test_handlers_of_a_library_that_is_loaded_early_may_allocate(heap: Any, compiled: Any) -> None:
    source = HERE / "allocates_at_fork.c"
    library = compiled(source, "-DLIBRARY", "-shared", "-fPIC")
    done = heap.run(compiled(source, "-Wl,--no-as-needed", str(library)), timeout_s=120)
    assert (done.status, done.out) == (0, b"done\n"), done.err


@pytest.mark.parametrize("beside", ["read", "flush", "both"])
def test_fork_beside_stdio(heap: Any, compiled: Any, beside: str) -> None:
    done = heap.run(compiled(HERE / "fork_and_stdio.c"), beside, timeout_s=120)
    assert (done.status, done.out) == (0, b"done\n"), done.err


def step(heap: Any, compiled: Any, patience_s: str) -> Any:
    if platform.machine() != "x86_64":
        pytest.skip("single-stepping by the trap flag is written for x86-64")
    # The thread that gives memory back stays for the whole test: to start one blocks all signals,
    # and a trap that is blocked is deadly.
    done = heap.run(
        compiled(HERE / "fork_step.c"),
        patience_s,
        timeout_s=240,
        HEAPWISE_MALLOC_PURGE_DELAY_MS="2000000",
    )
    if done.status == NOT_PERMITTED:
        pytest.skip("needs a real-time priority: run as root, or with CAP_SYS_NICE")
    return done


def test_fork_after_every_atomic_instruction(heap: Any, compiled: Any) -> None:
    done = step(heap, compiled, PATIENCE_S)
    assert done.status == 0, done.err
    forks, places = (int(word) for word in re.findall(rb"\d+", done.out))
    assert forks >= places >= 10, "too few places: was the heap's code stepped through?"


@pytest.fixture(scope="session")
def forgetful(host: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A malloc that breaks what these tests guard."""
    library = tmp_path_factory.mktemp("control") / "forgets-fork.so"
    subprocess.run(
        [
            "gcc",
            "-O1",
            "-fPIC",
            "-shared",
            "-fno-builtin",
            "-pthread",
            HERE / "forgets_fork.c",
            "-o",
            library,
        ],
        check=True,
    )
    return replace(host, library=library)


def test_the_storm_finds_a_lock_that_fork_forgets(forgetful: Any, compiled: Any) -> None:
    done = forgetful.run(compiled(HERE / "fork_storm.c"), "50", "1", timeout_s=120)
    assert done.status == 1
    assert "not true: status == 0" in done.err


def test_stepping_finds_a_lock_that_fork_forgets(forgetful: Any, compiled: Any) -> None:
    done = step(forgetful, compiled, "1")
    assert done.status == 1
    assert "child ended with status" in done.err
