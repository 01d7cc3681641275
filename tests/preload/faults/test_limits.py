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


def limited(heap: Any, compiled: Any, limit: str, mib: int, size: int) -> Any:
    """``limited.c`` under a limit that holds for it alone, not for those who start it."""
    preload = [f"LD_PRELOAD={heap.library}"] if heap.library else []
    most_mib = min(mib * 2, MOST_MIB)
    return subprocess.run(
        ["prlimit", f"--{limit}={mib * MIB}", "env", "-i", *preload,
         compiled(HERE / "limited.c"), str(size), str(most_mib)],
        capture_output=True, text=True, timeout=150, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("limit", ["as", "data"])
@pytest.mark.parametrize("mib", [8, 16, 32, 64, 256, 1024, 8192])
def test_what_is_allowed_can_be_used(
    heap: Any, compiled: Any, limit: str, mib: int
) -> None:
    """Below 64 MiB it may also stop at the start, with a few clear lines."""
    for size in (100, 5000, 300000):
        done = limited(heap, compiled, limit, mib, size)
        assert done.returncode >= 0, f"ended by a signal: {done}"
        assert "not true" not in done.stderr, done.stderr
        if mib < 64 and done.returncode != 0:
            assert 1 <= len(done.stderr.splitlines()) <= MOST_LINES, done
            continue
        assert done.returncode == 0, done
        first, second = map(int, done.stdout.split())
        wanted = min(mib / 3, MOST_MIB) if mib >= 64 else 0
        assert first >= wanted, f"{first} MiB of {mib} in blocks of {size}"
        assert second >= first * 0.9, f"{first} MiB, and {second} after it was given back"
