"""What Valgrind sees of pools and arenas in a program compiled with HEAPWISE_USE_VALGRIND."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("hidden_memory.cpp")
# The library itself is compiled without: what it marks, it marks for its user.
LIBRARY = [
    ROOT / "src" / "arena" / "arena.cpp",
    ROOT / "src" / "os" / "linux" / "memory.cpp",
    ROOT / "src" / "os" / "linux" / "process.cpp",
    ROOT / "src" / "os" / "linux" / "waiting.cpp",
    ROOT / "src" / "os" / "linux" / "bare" / "bare_state.cpp",
    *sorted((ROOT / "src" / "pool").glob("c[ah]*.cpp")),
    ROOT / "src" / "pool" / "block_source.cpp",
    ROOT / "src" / "pool" / "failure.cpp",
]
# Names in it are also names in another.
ALONE = ROOT / "src" / "os" / "linux" / "bare" / "bare_thread.cpp"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hidden")
    common = [
        "g++",
        "-std=c++20",
        "-O1",
        "-g1",
        "-D_GNU_SOURCE",
        f"-I{ROOT}/include",
        f"-I{ROOT}/src",
    ]
    library = folder / "library.o"
    everything = "".join(f'#include "{source}"\n' for source in LIBRARY)
    subprocess.run(
        [*common, "-x", "c++", "-c", "-o", str(library), "-"],
        input=everything,
        text=True,
        check=True,
    )
    other = folder / "alone.o"
    subprocess.run([*common, "-c", "-o", str(other), str(ALONE)], check=True)
    binary = folder / "hidden_memory"
    subprocess.run(
        [
            *common,
            "-DHEAPWISE_USE_VALGRIND",
            str(PROGRAM),
            str(library),
            str(other),
            "-o",
            str(binary),
        ],
        check=True,
    )
    return binary


def errors(program: Path, how: str) -> list[str]:
    """The lines in which Valgrind says what was wrong."""
    done = subprocess.run(
        ["valgrind", "--error-exitcode=9", "--undef-value-errors=yes", str(program), how],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    lines = [line.split("== ")[1] for line in done.stderr.splitlines() if "== " in line]
    found = [
        line
        for line in lines
        if line.startswith(("Invalid", "Unaddressable", "Conditional", "Use of"))
    ]
    assert (done.returncode == 9) == bool(found), done.stderr
    return found


def test_right_use_is_not_reported(program: Path) -> None:
    assert errors(program, "good") == []


@pytest.mark.parametrize(
    ("how", "line", "times"),
    [
        ("read", "Invalid read of size 1", 4),
        ("write", "Invalid write of size 1", 4),
        ("never", "Invalid write of size 1", 4),
        ("double", "Unaddressable byte(s) found during client check request", 4),
        ("arena", "Invalid write of size 1", 1),
        ("reset", "Invalid write of size 1", 1),
    ],
)
def test_misuse_is_reported(program: Path, how: str, line: str, times: int) -> None:
    """Once for each of the four policies."""
    assert errors(program, how).count(line) == times
