"""Large blocks: writes beside them, pages that are hidden, and what a freed one still holds."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

LARGE = Path(__file__).parent / "large.c"
HELD = Path(__file__).parent / "held.c"
LOCKED = Path(__file__).parent / "locked.c"


@pytest.mark.parametrize(
    "how", ["malloc", "calloc", "aligned", "again", "grown", "moved", "shrunk"]
)
@pytest.mark.parametrize("size", [65536, 65537, 200_000, 1 << 20, 5_000_000])
def test_hardened_finds_a_write_behind_a_large_block(
    hardened: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int, how: str
) -> None:
    report = tmp_path / "report"
    done = hiding(
        hardened, compiled(LARGE), "behind", str(size), how, HEAPWISE_MALLOC_REPORT=str(report)
    )
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "out-of-bounds"
    assert found["address"] == done.out.decode().split()[0]
    assert int(found["block"], 16) + found["bytes"] == int(found["address"], 16)


@pytest.mark.parametrize("size", [40_000, 65_536, 262_144, 1 << 20, 5_000_000])
def test_hardened_finds_a_write_before_a_large_block(
    hardened: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int
) -> None:
    report = tmp_path / "report"
    done = hiding(
        hardened, compiled(LARGE), "before", str(size), HEAPWISE_MALLOC_REPORT=str(report)
    )
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "out-of-bounds"
    assert found["address"] == done.out.decode().split()[0]


@pytest.mark.parametrize("size", [40_000, 262_144, 5_000_000])
def test_nobody_can_say_where_the_next_large_block_lies(
    hardened: Any, compiled: Any, size: int
) -> None:
    steps = hardened.run(compiled(LARGE), "steps", str(size)).out.split()
    assert len(steps) == 64
    assert max(Counter(steps).values()) < 56  # of a fair coin, once in a thousand million runs


def test_a_large_block_that_waits_keeps_its_page_hidden(
    hardened: Any, hiding: Any, compiled: Any
) -> None:
    done = hiding(hardened, compiled(LARGE), "waiting")
    assert (done.status, done.out.split()) == (0, [b"hidden", b"hidden", b"shown"]), done


@pytest.mark.parametrize("use", ["legal", "limited", "quiet"])
def test_legal_uses_of_large_blocks_raise_no_alarm(
    profile: Any, hiding: Any, compiled: Any, use: str
) -> None:
    done = hiding(profile, compiled(LARGE), use)
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


@pytest.mark.parametrize("size", [1_200_000, 5_000_000, 30_000_000])
def test_a_touch_of_a_long_block_that_was_freed_is_reported(
    hardened: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int
) -> None:
    report = tmp_path / "report"
    done = hiding(
        hardened, compiled(HELD), "touched", str(size), HEAPWISE_MALLOC_REPORT=str(report)
    )
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "use-after-free"
    assert found["address"] == done.out.decode().split()[0]
    assert int(found["block"], 16) + size // 2 == int(found["address"], 16)


@pytest.mark.parametrize(
    "use",
    [
        ("secret", "100000"),
        ("secret", "1000000"),
        ("secret", "1048576"),
        ("secret", "3000000"),
        ("secret", "40000000"),
        ("shrunk", "1000000"),
        ("shrunk", "30000000"),
        ("locked",),
    ],
)
def test_the_content_of_a_large_block_is_gone_when_it_is_free(
    hardened: Any, hiding: Any, compiled: Any, use: tuple[str, ...]
) -> None:
    done = hiding(hardened, compiled(HELD), *use)
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


def test_a_free_does_not_make_pages_resident_that_the_block_never_touched(
    hardened: Any, compiled: Any
) -> None:
    done = hardened.run(compiled(HELD), "sparse")
    assert int(done.out) < 4096, done


def test_threads_and_children_free_large_blocks(profile: Any, hiding: Any, compiled: Any) -> None:
    done = hiding(profile, compiled(HELD), "forks")
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


def test_pages_that_the_program_locks_in_memory_can_be_used(
    profile: Any, hiding: Any, compiled: Any
) -> None:
    """Hidden pages of a range that is locked in part must all be shown again."""
    done = hiding(profile, compiled(LOCKED))
    assert (done.status, done.out) == (0, b"locked\n"), done
