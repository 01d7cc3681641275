"""Reports name the calls that allocated and freed a block, if the option asks for them."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

FAULTS = Path(__file__).parents[1] / "faults"
LEGAL = Path(__file__).parent / "legal.cpp"
LARGE = Path(__file__).parent / "large.c"
HELD = Path(__file__).parent / "held.c"
OWNED = Path(__file__).parent / "owned.c"
SITES = Path(__file__).parent / "sites.cpp"


def sites_of_fault(
    profile: Any, program: Path, tmp_path: Path, *words: Any, guard_every: int = 0
) -> tuple[dict[str, Any], set[str]]:
    """The report, and those of its members that are calls of the function that they should be of:
    every block of the program is allocated in one function and freed in another one."""
    report = tmp_path / "report"
    done = profile.run(
        program,
        *words,
        HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_CALL_SITES="1",
        HEAPWISE_MALLOC_GUARD_EVERY=str(guard_every),
    )
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    begin, end, free_begin, free_end = (int(word, 16) for word in done.out.split())
    right = set()
    if begin < int(found.get("allocated_at", "0"), 16) <= end:
        right.add("allocated_at")
    if free_begin < int(found.get("freed_at", "0"), 16) <= free_end:
        right.add("freed_at")
    for name in right:
        assert f"by the call that returns to {found[name]}\n" in done.err
    return found, right


BOTH = {"allocated_at", "freed_at"}
ALLOCATIONS = [
    "malloc",
    "calloc",
    "aligned_alloc",
    "posix_memalign",
    "realloc",
    "new",
    "new_aligned",
    "own",
]


@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize("size", [40, 1000, 30_000, 200_000, 5_000_000])
def test_a_report_names_the_calls_that_allocated_and_freed_a_block(
    profile: Any, compiled: Any, tmp_path: Path, allocation: str, size: int
) -> None:
    found, right = sites_of_fault(
        profile, compiled(SITES), tmp_path, allocation, "free", "twice", size
    )
    assert found["kind"] == "double-free"
    assert right == BOTH, found


@pytest.mark.parametrize(
    ("release", "allocation"),
    [
        ("realloc", "malloc"),
        ("delete", "new"),
        ("delete_sized", "new"),
        ("delete_aligned", "new_aligned"),
        ("thread", "malloc"),
    ],
)
def test_each_way_to_free_is_named(
    profile: Any, compiled: Any, tmp_path: Path, release: str, allocation: str
) -> None:
    found, right = sites_of_fault(
        profile, compiled(SITES), tmp_path, allocation, release, "resized", 1000
    )
    assert found["kind"] == "double-free"
    assert right == BOTH, found


@pytest.mark.parametrize(
    ("fault", "allocation", "release", "size", "named"),
    [
        ("inside", "malloc", "none", 40, {"allocated_at"}),
        ("inside", "malloc", "none", 200_000, {"allocated_at"}),
        ("inside", "own", "none", 40, {"allocated_at"}),
        ("wrong_size", "new", "none", 40, {"allocated_at"}),
        ("wrong_size", "new", "none", 200_000, {"allocated_at"}),
    ],
)
def test_each_fault_names_its_calls(
    profile: Any,
    compiled: Any,
    tmp_path: Path,
    fault: str,
    allocation: str,
    release: str,
    size: int,
    named: set[str],
) -> None:
    found, right = sites_of_fault(
        profile, compiled(SITES), tmp_path, allocation, release, fault, size
    )
    assert right == named == BOTH & found.keys(), found


@pytest.mark.parametrize(
    ("fault", "allocation", "release", "size", "named"),
    [
        ("overrun", "malloc", "none", 40, {"allocated_at"}),
        ("overrun", "own", "none", 1000, {"allocated_at"}),
        ("behind", "malloc", "none", 200_000, {"allocated_at"}),
        ("behind", "own", "none", 200_000, {"allocated_at"}),
        ("written", "malloc", "free", 40, BOTH),
        ("written", "realloc", "free", 1000, BOTH),
        ("written", "malloc", "free", 200_000, BOTH),
        ("touched", "malloc", "free", 5_000_000, BOTH),
    ],
)
def test_each_fault_that_hardened_finds_names_its_calls(
    hardened: Any,
    compiled: Any,
    tmp_path: Path,
    fault: str,
    allocation: str,
    release: str,
    size: int,
    named: set[str],
) -> None:
    found, right = sites_of_fault(
        hardened, compiled(SITES), tmp_path, allocation, release, fault, size
    )
    assert right == named == BOTH & found.keys(), found


@pytest.mark.parametrize("fault", ["twice", "touched", "resized"])
@pytest.mark.parametrize("allocation", ["malloc", "new", "own"])
def test_sampled_blocks_have_call_sites_too(
    profile: Any, compiled: Any, tmp_path: Path, fault: str, allocation: str
) -> None:
    found, right = sites_of_fault(
        profile, compiled(SITES), tmp_path, allocation, "free", fault, 2000, guard_every=1
    )
    assert right == BOTH, found
    assert found["allocated"]["stack"]


def test_without_the_option_there_are_no_call_sites(
    profile: Any, compiled: Any, tmp_path: Path
) -> None:
    report = tmp_path / "report"
    done = profile.run(
        compiled(SITES),
        "malloc",
        "free",
        "twice",
        "40",
        HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_GUARD_EVERY="0",
    )
    assert done.status == -signal.SIGABRT
    assert not BOTH & json.loads(report.read_text()).keys()


def test_other_profiles_say_that_they_keep_no_call_sites(profile_named: Any, compiled: Any) -> None:
    done = profile_named("default").run(
        compiled(SITES), "malloc", "free", "none", "40", HEAPWISE_MALLOC_CALL_SITES="1"
    )
    assert done.status == 0
    assert done.err == (
        "heapwise: HEAPWISE_MALLOC_CALL_SITES=1: no such value; it is ignored. "
        "Next: 0, or 1 in the profiles guarded and hardened\n"
    )


@pytest.mark.parametrize(
    ("program", "words"),
    [(LEGAL, []), (HELD, ["forks"]), (OWNED, ["legal", "0"]), (LARGE, ["legal"])],
)
def test_legal_programs_run_as_before_with_call_sites(
    profile: Any, compiled: Any, program: Path, words: list[str]
) -> None:
    flags = ["-fsized-deallocation"] if program == LEGAL else []
    done = profile.run(compiled(program, *flags), *words, HEAPWISE_MALLOC_CALL_SITES="1")
    assert (done.status, done.err) == (0, "")


def test_memory_without_room_for_call_sites_is_used_all_the_same(
    profile: Any, compiled: Any
) -> None:
    """The sites take as much memory as the small blocks, so a limit leaves half of it."""
    program = compiled(FAULTS / "limited.c")
    mib = 256
    done = replace(profile, library=None).run(
        "prlimit",
        f"--as={mib << 20}",
        "env",
        f"LD_PRELOAD={profile.library}",
        "HEAPWISE_MALLOC_CALL_SITES=1",
        program,
        "100",
        str(mib),
    )
    assert done.status == 0, done
    assert int(done.out.split()[0]) / 1024 > mib / 5, done
