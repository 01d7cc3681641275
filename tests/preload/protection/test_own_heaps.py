"""Blocks of heaps of their own (``heapwise_heap_create``) are protected like those of malloc."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

OWNED = Path(__file__).parent / "owned.c"


def fault_of_own_heap(
    profile: Any, program: Path, use: str, size: int, report: Path, guard_every: int = 0
) -> dict[str, Any]:
    done = profile.run(
        program,
        use,
        size,
        HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_GUARD_EVERY=str(guard_every),
    )
    assert done.status == -signal.SIGABRT, done
    found: dict[str, Any] = json.loads(report.read_text())
    return found


@pytest.mark.parametrize(
    ("use", "kind", "size"),
    [
        ("twice", "double-free", 48),
        ("inside", "inside-block", 48),
        ("resized", "double-free", 48),
        ("linked", "written-after-free", 48),
        ("twice", "double-free", 100_000),
    ],
)
def test_faults_of_blocks_of_heaps_of_their_own_are_reported(
    profile: Any, compiled: Any, tmp_path: Path, use: str, kind: str, size: int
) -> None:
    found = fault_of_own_heap(profile, compiled(OWNED), use, size, tmp_path / "report")
    assert found["kind"] == kind
    assert found["bytes"] >= size or size == 100_000


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ("overrun", "overrun"),
        ("written", "written-after-free"),
        ("linked", "written-after-free"),
        ("owner", "double-free"),
        ("beyond", "out-of-bounds"),
    ],
)
@pytest.mark.parametrize("size", [40, 1000, 20_000])
def test_hardened_protects_small_blocks_of_heaps_of_their_own(
    hardened: Any, compiled: Any, tmp_path: Path, use: str, kind: str, size: int
) -> None:
    found = fault_of_own_heap(hardened, compiled(OWNED), use, size, tmp_path / "report")
    assert found["kind"] == kind
    assert found["block"] is not None
    assert found["bytes"] >= size


@pytest.mark.parametrize(
    ("use", "kind", "size"),
    [
        ("beyond", "out-of-bounds", 100_000),
        ("written", "written-after-free", 100_000),
        ("beyond", "out-of-bounds", 5_000_000),
        ("touched", "use-after-free", 5_000_000),
    ],
)
def test_hardened_protects_large_blocks_of_heaps_of_their_own(
    hardened: Any, compiled: Any, tmp_path: Path, use: str, kind: str, size: int
) -> None:
    found = fault_of_own_heap(hardened, compiled(OWNED), use, size, tmp_path / "report")
    assert found["kind"] == kind
    assert found["bytes"] >= size


@pytest.mark.parametrize("size", [40, 1000, 20_000, 100_000])
def test_the_content_of_heaps_of_their_own_is_gone(hardened: Any, compiled: Any, size: int) -> None:
    done = hardened.run(compiled(OWNED), "secret", size, HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert (done.status, done.out.split()) == (0, [b"cleared", b"cleared"]), done


@pytest.mark.parametrize(
    ("use", "kind"), [("sampled", "out-of-bounds"), ("ended", "use-after-free")]
)
def test_blocks_of_heaps_of_their_own_are_sampled(
    profile: Any, compiled: Any, tmp_path: Path, use: str, kind: str
) -> None:
    found = fault_of_own_heap(
        profile, compiled(OWNED), use, 2000, tmp_path / "report", guard_every=1
    )
    assert found["kind"] == kind
    assert found["allocated"]["stack"]
    assert ("freed" in found) == (use == "ended")


@pytest.mark.parametrize("guard_every", ["0", "1", "64"])
def test_legal_uses_of_heaps_of_their_own_raise_no_alarm(
    profile: Any, compiled: Any, guard_every: str
) -> None:
    done = profile.run(compiled(OWNED), "legal", 0, HEAPWISE_MALLOC_GUARD_EVERY=guard_every)
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done
