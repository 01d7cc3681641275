"""Memory that is used again costs what its use costs: no faults, calls or instructions that grow
with what was used before.

Wall time says nothing on a busy machine, so each cost is a count.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from conformance import subject

PAGE_KIB = 4
PROFILES = ["", "-guarded", "-hardened"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("reused") / "reused"
    source = Path(__file__).with_name("reused.c")
    subprocess.run(["gcc", "-O1", "-fno-builtin", str(source), "-o", str(binary)], check=True)
    return binary


def preloaded(profile: str = "") -> dict[str, str]:
    library = subject.library()
    return {
        "PATH": os.environ["PATH"],
        "HEAPWISE_MALLOC_PURGE_THREAD": "0",
        "HEAPWISE_MALLOC_GUARD_EVERY": "0",
        "LD_PRELOAD": str(library.with_name(f"libheapwise-malloc{profile}.so")),
    }


def faults_and_kib(program: Path, size: int, percent: int, times: int) -> tuple[float, int]:
    """Page faults each time, and what was resident at most."""
    words = [str(program), "calloc", str(size), str(percent), str(times)]
    done = subprocess.run(words, env=preloaded(), capture_output=True, text=True, check=True)
    faults, kib = done.stdout.split()
    return int(faults) / (times - 1), int(kib)


@pytest.mark.parametrize("size", [900_000, 1_100_000, 3_000_000, 16_000_000])
def test_zeros_in_used_memory_cost_no_faults(program: Path, size: int) -> None:
    faults, _ = faults_and_kib(program, size, 100, 20)
    pages = size / 1024 / PAGE_KIB
    assert faults < pages / 20


@pytest.mark.parametrize("percent", [0, 20])
@pytest.mark.parametrize("size", [3_000_000, 16_000_000])
def test_zeros_do_not_make_unused_memory_resident(program: Path, size: int, percent: int) -> None:
    _, kib = faults_and_kib(program, size, percent, 20)
    _, empty_kib = faults_and_kib(program, 1000, 0, 2)
    assert kib - empty_kib < 1.2 * size * percent / 100 / 1024 + 1024


def calls_of(program: Path, profile: str, *words: str) -> Counter[str]:
    """Name of a system call -> how often the program made it, with this profile."""
    environment = preloaded(profile)
    command = [
        "strace",
        "-f",
        "-qq",
        "-E",
        f"LD_PRELOAD={environment.pop('LD_PRELOAD')}",
        str(program),
        *words,
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Counter(re.findall(r"^(?:\[pid +\d+\] )?(\w+)\(", done.stderr, re.MULTILINE))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("way", "size", "number"),
    [
        ("realloc", "1048000", "1"),
        ("realloc", "100000", "1"),
        ("realloc", "3000", "1"),
        ("calloc", "100", "100"),
        ("calloc", "200000", "100"),
        ("calloc", "1100000", "100"),
    ],
)
def test_an_operation_that_changes_no_page_makes_no_system_call(
    program: Path, profile: str, way: str, size: str, number: str
) -> None:
    few = calls_of(program, profile, way, size, number, "20")
    many = calls_of(program, profile, way, size, number, "120")
    # A block in use may come to a new page now and then, and the profiles that hold blocks back
    # hide pages of large ones.
    hides = profile == "-hardened" and way == "calloc" and int(size) > 1 << 20
    assert (many - few).total() <= (300 if hides else 10), many - few


def instructions(program: Path, *words: str) -> int:
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=aligned_alloc",
        str(program),
        *words,
    ]
    done = subprocess.run(command, env=preloaded(), capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    return int(found[1])


@pytest.mark.parametrize(("size", "alignment"), [(64, 1 << 20), (65536, 1 << 21), (4096, 1 << 17)])
def test_aligned_blocks_cost_the_same_however_many_there_are(
    program: Path, size: int, alignment: int
) -> None:
    few, many = (
        instructions(program, "aligned", str(size), str(alignment), str(times))
        for times in (250, 1000)
    )
    assert many / 1000 < 1.2 * few / 250
    assert many / 1000 < 1500


@pytest.mark.parametrize(("size", "alignment"), [(65, 64), (300, 256), (1100, 512)])
def test_a_size_between_aligned_classes_costs_what_the_aligned_size_costs(
    program: Path, size: int, alignment: int
) -> None:
    whole = -(-size // alignment) * alignment
    times = 1000
    between, aligned = (
        instructions(program, "aligned", str(each), str(alignment), str(times))
        for each in (size, whole)
    )
    assert abs(between - aligned) < times
