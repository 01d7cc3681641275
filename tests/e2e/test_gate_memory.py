"""The peak memory of a gate is that of the whole program: all its processes, and shared memory."""

from __future__ import annotations

import json
import subprocess
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


def memory_of(program: Path, result: Path) -> dict[str, int]:
    launched = [str(native_part(LAUNCHER)), "--result", str(result), "--timeout", "60"]
    subprocess.run(
        [*launched, "--memory-moments", "64", "--", str(program)],
        check=True,
        env={},
    )
    memory: dict[str, int] = json.loads(result.read_text())["memory"]
    return memory


def test_shared_memory_that_no_process_maps_is_seen(tmp_path: Path) -> None:
    """Of a program of 1.5 s that keeps 60 MiB in a memory file and uses 20 MiB itself. On a busy
    machine the one look in this time may come before the file is whole: three programs."""
    program = tmp_path / build(tmp_path, "new", 20, 1, 60)
    memory = max(
        (memory_of(program, tmp_path / f"result{each}") for each in range(3)),
        key=lambda each: each["most_unmapped_kib"],
    )
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
