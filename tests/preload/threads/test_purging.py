"""Memory goes back while the program does nothing, and `free` takes no lock of the C library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
QUICKLY = {"HEAPWISE_MALLOC_PURGE_DELAY_MS": "20"}


def run(heap: Any, *command: str | Path) -> Any:
    if not heap.is_ours:
        pytest.skip("other heaps give memory back when they are called, if at all")
    return heap.run(*command, timeout_s=120, **QUICKLY)


def test_free_does_not_call_pthread_create(heap: Any, compiled: Any) -> None:
    done = run(heap, compiled(HERE / "purging.c"), "free")
    assert (done.status, done.out) == (0, b"done\n"), done.err


def test_free_by_the_c_library_under_its_own_lock(heap: Any, compiled: Any) -> None:
    """glibc frees an ended thread's variables with the lock of its stacks held."""
    plugin = compiled(HERE / "variables.c", "-shared", "-fPIC")
    done = run(heap, compiled(HERE / "purging.c"), "thread", plugin)
    assert (done.status, done.out) == (0, b"done\n"), done.err


def test_much_thread_local_storage_does_not_prevent_it(heap: Any, compiled: Any) -> None:
    program = compiled(HERE / "purging.c", "-DSTATIC_TLS_BYTES=200*1024")
    done = run(heap, program, "free")
    assert (done.status, done.out) == (0, b"done\n"), done.err
