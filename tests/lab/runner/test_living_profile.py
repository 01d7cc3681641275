"""A process that runs already, and the way to its heap profile."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.runner.living_profile import EVERY, PLACE, SIGNAL, profile_advice
from heapwise.runner.recording import trace_of


@contextmanager
def running(**environment: str) -> Iterator[int]:
    """A process that sleeps, when it has begun to."""
    words = [sys.executable, "-c", "print(1, flush=True); import time; time.sleep(60)"]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process.pid
        process.kill()


def advice(process: int) -> str:
    with pytest.raises(Problem) as refused:
        trace_of(process)
    assert refused.value.id == "E011"
    return refused.value.do


def heap(built_native: Path) -> Path:
    """The heap, if it can make a profile of a process that runs."""
    library = built_native / "libheapwise-malloc.so"
    if b"PROFILE_SIGNAL" not in library.read_bytes():
        pytest.skip("this heap makes no profiles")
    return library


def test_a_process_with_another_malloc_has_to_be_started_with_the_recorder() -> None:
    with running() as process:
        assert profile_advice(process) == ""
        assert "heapwise record --start-paused" in advice(process)


def test_under_the_heap_the_variables_are_named(built_native: Path) -> None:
    with running(LD_PRELOAD=str(heap(built_native))) as process:
        said = advice(process)
    assert all(f"{name}=" in said for name in (EVERY, PLACE, SIGNAL))


def test_a_process_that_was_started_with_them_is_told_the_signal(
    built_native: Path, tmp_path: Path
) -> None:
    place = str(tmp_path / "heap")
    library = str(heap(built_native))
    with running(LD_PRELOAD=library, **{EVERY: "65536", PLACE: place, SIGNAL: "12"}) as process:
        kill, _, look = advice(process).partition("; ")
        subprocess.run(kill, shell=True, check=True)
        profile = Path(look.removeprefix("heapwise trace "))
        end = time.monotonic() + 30
        while not profile.exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert profile.stat().st_size > 0
