"""The empty program whose start heap/startup measures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path


def run(native: Path, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [str(native / "heapwise-empty"), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=environment,
    )
    assert done.stderr == ""
    return done.stdout


def test_it_says_nothing(native: Path) -> None:
    assert run(native) == ""


def test_it_says_how_much_memory_it_had(native: Path) -> None:
    number, unit = run(native, "--peak").split()
    assert unit == "kB"
    assert 100 < int(number) < 100_000


def test_it_calls_malloc_once(native: Path, tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    run(native, LD_PRELOAD=str(native / "libheapwise-count.so"), HEAPWISE_COUNT_OUT=str(counted))
    calls = json.loads(counted.read_text())["calls"]
    assert (calls["malloc"], calls["free"]) == (1, 1)
