"""Odd surroundings: nowhere to write, no /proc, the library there twice."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def assert_well(done: Any) -> None:
    assert (done.status, done.out) == (0, b"done 0\n"), done.err


def test_standard_error_closed(heap: Any, compiled: Any) -> None:
    program = compiled(HERE / "survivor.c")
    for scene in ("small", "threads"):
        assert_well(heap.run("/bin/sh", "-c", f"exec {program} {scene} recovers 2>&-"))


def test_all_streams_closed(heap: Any, compiled: Any) -> None:
    """What a heap would open then has the number of a stream, which the program may write to."""
    program = compiled(HERE / "survivor.c")
    done = heap.run("/bin/sh", "-c", f"{program} small recovers <&- >&- 2>&-; echo $?")
    assert done.out == b"1\n", "it cannot write its last line, and that is all"


def test_files_may_not_grow(heap: Any, compiled: Any) -> None:
    program = compiled(HERE / "survivor.c")
    assert_well(heap.run("/bin/sh", "-c", f"ulimit -f 0; exec {program} large recovers"))


def test_preloaded_twice(heap: Any, compiled: Any) -> None:
    if heap.library is None:
        pytest.skip("nothing to preload")
    twice = replace(heap, variables={"LD_PRELOAD": f"{heap.library}:{heap.library}"})
    for scene in ("small", "large", "threads"):
        assert_well(twice.run(compiled(HERE / "survivor.c"), scene, "recovers"))


@pytest.mark.parametrize("order", ["original first", "copy first"])
def test_two_copies(heap: Any, compiled: Any, tmp_path: Path, order: str) -> None:
    """All calls go to the first; the second must do no harm by being there."""
    if heap.library is None:
        pytest.skip("nothing to preload")
    copy = tmp_path / "libheapwise-copy.so"
    shutil.copy(heap.library, copy)
    both = [str(heap.library), str(copy)]
    if order == "copy first":
        both.reverse()
    preload = replace(heap, variables={"LD_PRELOAD": ":".join(both)})
    for scene in ("small", "large", "threads"):
        assert_well(preload.run(compiled(HERE / "survivor.c"), scene, "recovers"))


def test_a_library_that_audits_the_loader(heap: Any, compiled: Any) -> None:
    audit = compiled(HERE / "audits.c", "-shared", "-fPIC")
    program = compiled(HERE / "survivor.c")
    for scene in ("small", "large", "threads"):
        assert_well(heap.run(program, scene, "recovers", LD_AUDIT=str(audit)))


@pytest.mark.parametrize("preloaded", [False, True], ids=["linked", "linked and preloaded"])
def test_linked(heap: Any, host: Any, compiled: Any, preloaded: bool) -> None:
    if heap.library is None:
        pytest.skip("nothing to link with")
    program = compiled(
        HERE / "survivor.c",
        str(heap.library),
        "-Wl,--no-as-needed",
        f"-Wl,-rpath,{heap.library.parent}",
    )
    for scene in ("small", "large", "threads"):
        assert_well((heap if preloaded else host).run(program, scene, "recovers"))


def test_no_proc(heap: Any, compiled: Any) -> None:
    hidden = "mount -t tmpfs none /proc && "
    probe = subprocess.run(
        ["unshare", "--mount", "/bin/sh", "-c", hidden + "true"], capture_output=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip("needs a mount namespace of its own: run as root")
    program = compiled(HERE / "survivor.c")
    for scene in ("small", "large", "threads"):
        assert_well(
            heap.run(
                "unshare", "--mount", "/bin/sh", "-c", f"{hidden} exec {program} {scene} recovers"
            )
        )
