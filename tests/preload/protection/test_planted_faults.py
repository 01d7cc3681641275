"""Programs with planted faults end, and the report says what was wrong; legal programs go on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLANTS = Path(__file__).parent / "plants.c"
SAMPLES = Path(__file__).parent / "samples.c"
LEGAL = Path(__file__).parent / "legal.cpp"
INLINED = Path(__file__).parent / "inlined.cpp"
STORM = Path(__file__).parent / "storm.c"
FORK_STORM = Path(__file__).parents[1] / "threads" / "fork_storm.c"
KINDS = {
    "interior": "inside-block",
    "double": "double-free",
    "foreign": "foreign",
    "realloc": "double-free",
    "double-large": "double-free",
    "interior-large": "inside-block",
}
ONLY_HARDENED = {
    "overrun": "overrun",
    "written": "written-after-free",
    "behind-large": "out-of-bounds",
    "touched-long": "use-after-free",
}
PLACES = ["main", "thread", "child", "handler", "closed"]


def planted(profile: Any, program: Path, kind: str, place: str, report: Path) -> dict[str, Any]:
    """The report of the fault. What the program said of it is checked here."""
    done = profile.run(
        program, kind, place, HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY="0"
    )
    assert done.status == -signal.SIGABRT, (kind, place, done)
    address, thread = done.out.split()
    found: dict[str, Any] = json.loads(report.read_text())
    if kind != "foreign":
        assert found["address"] == address.decode()
    assert found["found"]["thread"] == int(thread)
    assert found["found"]["stack"]
    if place != "closed":
        assert found["kind"] in done.err
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_fault_is_reported(
    profile: Any, compiled: Any, tmp_path: Path, kind: str, place: str
) -> None:
    found = planted(profile, compiled(PLANTS), kind, place, tmp_path / "report")
    assert found["kind"] == KINDS[kind]
    assert found["profile"] in profile.name


@pytest.mark.parametrize("guard_every", ["0", "8"])
def test_a_storm_of_wrong_frees_is_reported_fault_by_fault(
    profile: Any, compiled: Any, tmp_path: Path, guard_every: str
) -> None:
    """Four threads, whose handler of SIGABRT goes on; they use the heap between their faults."""
    report = tmp_path / "report"
    done = profile.run(
        compiled(STORM),
        "4",
        "400",
        HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_GUARD_EVERY=guard_every,
    )
    assert (done.status, done.out) == (0, b"1600 0 0\n")
    found = Counter(json.loads(line)["kind"] for line in report.read_text().splitlines())
    assert found == {"double-free": 800, "inside-block": 400, "foreign": 400}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ONLY_HARDENED)
def test_hardened_finds_bytes_that_were_overwritten(
    hardened: Any, compiled: Any, tmp_path: Path, kind: str, place: str
) -> None:
    hardened = hardened
    found = planted(hardened, compiled(PLANTS), kind, place, tmp_path / "report")
    assert found["kind"] == ONLY_HARDENED[kind]


@pytest.mark.parametrize("kind", ["sized", "aligned"])
def test_a_delete_with_another_size_is_reported(
    profile: Any, compiled: Any, tmp_path: Path, kind: str
) -> None:
    report = tmp_path / "report"
    done = profile.run(
        compiled(LEGAL, "-fsized-deallocation"),
        kind,
        HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_GUARD_EVERY="0",
    )
    assert done.status == -signal.SIGABRT, done
    assert json.loads(report.read_text())["kind"] == "wrong-size"


def with_inlined_paths(
    profile: Any, compiled: Any, use: str, report: Path, guard_every: str = "0"
) -> Any:
    """Runs the program that was built for the default profile's library with this profile."""
    built_for = profile.native / "libheapwise-malloc.so"
    program = compiled(INLINED, f"-I{ROOT}/include", str(built_for), f"-Wl,-rpath,{profile.native}")
    return profile.run(
        program, use, HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY=guard_every
    )


@pytest.mark.parametrize(
    ("use", "kind", "needs"),
    [
        ("twice", "double-free", "guarded"),
        ("sized", "double-free", "guarded"),
        ("inside", "inside-block", "guarded"),
        ("overrun", "overrun", "hardened"),
        ("written", "written-after-free", "hardened"),
    ],
)
def test_a_program_that_inlined_the_fast_paths_is_checked_without_being_compiled_again(
    profile: Any, compiled: Any, tmp_path: Path, use: str, kind: str, needs: str
) -> None:
    report = tmp_path / "report"
    done = with_inlined_paths(profile, compiled, use, report)
    if needs == "hardened" and "hardened" not in profile.name:
        assert done.status == 0, done
        return
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == kind
    first = int(done.out.split()[0], 16)
    assert int(found["address"], 16) == first + (16 if use == "inside" else 0)


def test_legal_use_of_inlined_fast_paths_raises_no_alarm(
    profile: Any, compiled: Any, tmp_path: Path
) -> None:
    done = with_inlined_paths(profile, compiled, "legal", tmp_path / "report")
    assert (done.status, done.out, done.err) == (0, b"done\n", "")


@pytest.mark.parametrize("guard_every", ["1", "16", "1000"])
@pytest.mark.parametrize("name", ["fast", "default", "guarded", "hardened"])
def test_sampled_blocks_go_home_on_every_way(
    profile_named: Any, compiled: Any, tmp_path: Path, name: str, guard_every: str
) -> None:
    """Some ways home do not look at the address of a block."""
    done = with_inlined_paths(
        profile_named(name), compiled, "lists", tmp_path / "report", guard_every
    )
    assert (done.status, done.out, done.err) == (0, b"done\n", "")


@pytest.mark.parametrize("action", ["warn", "ignore"])
@pytest.mark.parametrize("kind", ["inside", "twice", "realloc", "size"])
def test_a_wrong_call_leaves_a_sampled_block_alone(
    profile_named: Any, compiled: Any, kind: str, action: str
) -> None:
    """In the profile that may go on. A fault is reported once."""
    done = profile_named("default").run(
        compiled(SAMPLES),
        kind,
        HEAPWISE_MALLOC_GUARD_EVERY="1",
        HEAPWISE_MALLOC_INVALID_FREE=action,
    )
    assert done.status == 0, done
    reason = "it was freed before" if kind == "twice" else "inside of a block"
    lines = done.err.splitlines()
    assert len(lines) == (action == "warn")
    assert all(reason in line for line in lines)


def test_legal_calls_are_not_reported(profile: Any, compiled: Any) -> None:
    done = profile.run(compiled(LEGAL, "-fsized-deallocation"))
    assert (done.status, done.err) == (0, "")


def test_forks_among_threads_raise_no_alarm(profile: Any, compiled: Any) -> None:
    done = profile.run(
        compiled(FORK_STORM), "20", "30", timeout_s=120, HEAPWISE_MALLOC_GUARD_EVERY="8"
    )
    assert (done.status, done.out) == (0, b"done\n"), done.err


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("behind", "out-of-bounds"), ("freed", "use-after-free"), ("twice", "double-free")],
)
@pytest.mark.parametrize("name", ["default", "guarded", "hardened"])
def test_a_sampled_block_is_reported_with_its_stacks(
    profile_named: Any, compiled: Any, tmp_path: Path, kind: str, expected: str, name: str
) -> None:
    """The default profile samples if it is asked to."""
    report = tmp_path / "report"
    sampling = profile_named(name)
    done = sampling.run(
        compiled(SAMPLES), kind, HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY="1"
    )
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == expected
    assert found["allocated"]["stack"]
    assert ("freed" in found) == (kind != "behind")


@pytest.mark.parametrize("name", ["default", "guarded", "hardened"])
def test_the_stacks_of_a_sampled_block_reach_the_program(
    profile_named: Any, compiled: Any, tmp_path: Path, name: str
) -> None:
    """Its main calls malloc and free."""
    report = tmp_path / "report"
    program = compiled(SAMPLES, "-no-pie")
    profile_named(name).run(
        program, "twice", HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY="1"
    )
    symbols = subprocess.run(
        ["nm", "--print-size", program], capture_output=True, text=True, check=True
    ).stdout
    [(begin, size)] = re.findall(r"^(\w+) (\w+) T main$", symbols, re.MULTILINE)
    end = int(begin, 16) + int(size, 16)
    found = json.loads(report.read_text())
    for call in ("allocated", "freed"):
        stack = found[call]["stack"]
        assert any(int(begin, 16) < int(address, 16) <= end for address in stack), found


def test_a_signal_that_was_sent_ends_the_program(profile: Any) -> None:
    """Nobody accessed anything: there is nothing to report, and nothing that happens again."""
    done = profile.run("sh", "-c", "kill -SEGV $$; echo survived")
    assert (done.status, done.out, done.err) == (-signal.SIGSEGV, b"", "")
