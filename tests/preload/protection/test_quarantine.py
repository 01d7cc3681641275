"""Freed blocks have no new owner for a while: a stale pointer is found."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

QUARANTINE = Path(__file__).parent / "quarantine.c"


@pytest.mark.parametrize(
    ("use", "kind"), [("owner", "double-free"), ("written", "written-after-free")]
)
@pytest.mark.parametrize(
    "size", [8, 128, 1000, 4096, 20_000, 32_000, 65_536, 262_144, 1_000_000, 1 << 20]
)
def test_a_stale_pointer_is_found_since_its_block_has_no_new_owner(
    hardened: Any, compiled: Any, tmp_path: Path, size: int, use: str, kind: str
) -> None:
    report = tmp_path / "report"
    done = hardened.run(
        compiled(QUARANTINE),
        use,
        size,
        HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_GUARD_EVERY="0",
    )
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == kind
    if use == "owner":
        assert found["address"] == done.out.decode().split()[0]


@pytest.mark.parametrize("size", [40, 1000, 20_000])
def test_one_of_two_threads_that_free_a_block_at_once_is_told(
    hardened: Any, compiled: Any, size: int
) -> None:
    done = hardened.run(compiled(QUARANTINE), "race", size, HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert (done.status, done.out) == (0, b"done\n")
    assert "it was freed before" in done.err


@pytest.mark.parametrize(
    ("size", "least"),
    [(8, 128), (100, 128), (1000, 15), (32_000, 2), (262_144, 3), (1 << 20, 1), (5_000_000, 6)],
)
def test_the_address_of_a_freed_block_does_not_come_back_soon(
    hardened: Any, compiled: Any, size: int, least: int
) -> None:
    done = hardened.run(compiled(QUARANTINE), "again", size, HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == 0, done
    assert int(done.out) > least


def test_nothing_is_held_back_when_threads_end_and_memory_is_trimmed(
    profile: Any, compiled: Any
) -> None:
    done = profile.run(compiled(QUARANTINE), "empty", HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done
