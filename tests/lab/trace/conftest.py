"""A program with known calls, recorded by the real recorder."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.catalog import DRAIN, RECORDER, native_part

SOURCE = Path(__file__).resolve().parents[2] / "data" / "recorded" / "known.cpp"

Record = Callable[..., Path]


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled as users compile theirs."""
    program = tmp_path_factory.mktemp("recorded") / "known"
    subprocess.run(
        [
            "c++",
            "-O1",
            "-g",
            "-fno-builtin",
            "-std=c++20",
            "-pthread",
            str(SOURCE),
            "-o",
            str(program),
        ],
        check=True,
    )
    return program


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Records a command; the trace's path is returned."""

    def run(*command: str | Path, most_bytes: int = 64 << 20, stack_every: int = 256) -> Path:
        trace = tmp_path / f"{len(list(tmp_path.iterdir()))}.hwt"
        subprocess.run(
            [
                str(native_part(DRAIN)),
                "-o",
                str(trace),
                "--recorder",
                str(native_part(RECORDER)),
                "--max-bytes",
                str(most_bytes),
                "--stack-every",
                str(stack_every),
                "--",
                *map(str, command),
            ],
            check=True,
            timeout=120,
            stdout=subprocess.DEVNULL,
        )
        return trace

    return run
