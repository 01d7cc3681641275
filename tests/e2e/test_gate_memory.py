"""The peak memory of a gate is that of the whole program: all its processes, and shared memory."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heapwise.catalog import LAUNCHER, native_part

pytestmark = pytest.mark.usefixtures("built_native")

SOURCE = Path(__file__).resolve().parents[1] / "data" / "memory_user.c"


def build(
    folder: Path, name: str, mib: int, count: int, memfd: int, milliseconds: int = 1500
) -> str:
    (folder / name).mkdir()
    subprocess.run(
        [
            "cc",
            "-O1",
            f"-DMIB={mib}",
            f"-DCOUNT={count}",
            f"-DMEMFD={memfd}",
            f"-DMILLISECONDS={milliseconds}",
            "-o",
            f"{name}/app",
            str(SOURCE),
        ],
        cwd=folder,
        check=True,
    )
    return f"{name}/app"


@pytest.fixture
def memory_file() -> Iterator[int]:
    """A memory file of 60 MiB."""
    file = os.memfd_create("cache")
    os.posix_fallocate(file, 0, 60 << 20)
    yield file
    os.close(file)


def test_shared_memory_that_no_process_maps_is_seen(tmp_path: Path, memory_file: int) -> None:
    """Of a program of 1.5 s that has the file open and uses 20 MiB itself. The file is whole before
    it starts: looks take a thousandth of the time, and on a busy machine that is one early look."""
    program = tmp_path / build(tmp_path, "new", 20, 1, 0)
    result = tmp_path / "result"
    launched = [str(native_part(LAUNCHER)), "--result", str(result), "--timeout", "60"]
    subprocess.run(
        [*launched, "--memory-moments", "64", "--", str(program)],
        check=True,
        env={},
        pass_fds=(memory_file,),
    )
    memory = json.loads(result.read_text())["memory"]
    assert 60 << 10 <= memory["most_unmapped_kib"] < 62 << 10
    assert memory["peak_kib"] >= 80 << 10


@pytest.mark.long
@pytest.mark.parametrize(("count", "memfd"), [(4, 0), (1, 60)])
def test_memory_that_no_single_process_has_is_not_called_fine(
    heapwise: Any, tmp_path: Path, count: int, memfd: int
) -> None:
    # Of several, what they share has to be counted first; to count takes a thousandth of the time.
    milliseconds = 4000 if count > 1 else 1500
    base = build(tmp_path, "old", 20, 1, 0, milliseconds)
    new = build(tmp_path, "new", 20, count, memfd, milliseconds)
    done = heapwise(
        "gate",
        "--base",
        base,
        "--new",
        new,
        "--limit",
        "peak_memory=20%",
        "--json",
        "--time",
        "120s",
    )
    [row] = json.loads(done.stdout)["gate"]["rows"]
    assert row["verdict"] != "fine", row["sentence"]
    assert ("all processes together" in row["sentence"]) is (count > 1)
    assert row["new"] > 2 * row["base"]
