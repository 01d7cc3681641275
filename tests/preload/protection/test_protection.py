"""The profiles that check every call end a program with a planted fault, and say what it was."""

from __future__ import annotations

import errno
import json
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLANTS = Path(__file__).parent / "plants.c"
SAMPLES = Path(__file__).parent / "samples.c"
LEGAL = Path(__file__).parent / "legal.cpp"
LARGE = Path(__file__).parent / "large.c"
DENY = Path(__file__).parents[1] / "faults" / "deny.c"
QUARANTINE = Path(__file__).parent / "quarantine.c"
HELD = Path(__file__).parent / "held.c"
SPANS = Path(__file__).parent / "spans.c"
OWNED = Path(__file__).parent / "owned.c"
SEALED = Path(__file__).parent / "sealed.c"
SITES = Path(__file__).parent / "sites.cpp"
INLINED = Path(__file__).parent / "inlined.cpp"
STORM = Path(__file__).parent / "storm.c"
FORK_STORM = Path(__file__).parents[1] / "threads" / "fork_storm.c"
SLICE = 1 << 16
PROFILES = ["guarded", "hardened"]
KINDS = {
    "interior": "inside-block", "double": "double-free", "foreign": "foreign",
    "realloc": "double-free", "double-large": "double-free", "interior-large": "inside-block",
}
ONLY_HARDENED = {
    "overrun": "overrun", "written": "written-after-free", "behind-large": "out-of-bounds",
    "touched-long": "use-after-free",
}
PLACES = ["main", "thread", "child", "handler", "closed"]


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest, host: Any) -> Any:
    return of_profile(host, request.param)


def of_profile(host: Any, name: str) -> Any:
    ending = "" if name == "default" else f"-{name}"
    return replace(host, library=host.native / f"libheapwise-malloc{ending}.so")


@pytest.fixture(params=["marks", "protection"])
def hiding(request: pytest.FixtureRequest, host: Any, compiled: Any) -> Callable[..., Any]:
    """Runs a program with a profile where pages are hidden as the kernel can since Linux 6.13, and
    as those before it can."""
    def run(profile: Any, *command: str | Path, **more: str) -> Any:
        if request.param == "marks":
            return profile.run(*command, **more)
        variables = [f"{name}={value}" for name, value in more.items()]
        return host.run(compiled(DENY), errno.EINVAL, "marks", "--", "/usr/bin/env",
                        f"LD_PRELOAD={profile.library}", *variables, *command)

    return run


def planted(profile: Any, program: Path, kind: str, place: str, report: Path) -> dict[str, Any]:
    """The report of the fault. What the program said of it is checked here."""
    done = profile.run(program, kind, place, HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_GUARD_EVERY="0")
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
    done = profile.run(compiled(STORM), "4", "400", HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_GUARD_EVERY=guard_every)
    assert (done.status, done.out) == (0, b"1600 0 0\n")
    found = Counter(json.loads(line)["kind"] for line in report.read_text().splitlines())
    assert found == {"double-free": 800, "inside-block": 400, "foreign": 400}


def with_inlined_paths(profile: Any, compiled: Any, use: str, report: Path) -> Any:
    """Runs the program that was built for the default profile's library with this profile."""
    built_for = profile.native / "libheapwise-malloc.so"
    program = compiled(INLINED, f"-I{ROOT}/include", str(built_for),
                       f"-Wl,-rpath,{profile.native}")
    return profile.run(program, use, HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_GUARD_EVERY="0")


@pytest.mark.parametrize(("use", "kind", "needs"), [
    ("twice", "double-free", "guarded"), ("sized", "double-free", "guarded"),
    ("inside", "inside-block", "guarded"), ("overrun", "overrun", "hardened"),
    ("written", "written-after-free", "hardened")])
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


def test_forks_among_threads_raise_no_alarm(profile: Any, compiled: Any) -> None:
    done = profile.run(compiled(FORK_STORM), "20", "30", timeout_s=120,
                       HEAPWISE_MALLOC_GUARD_EVERY="8")
    assert (done.status, done.out) == (0, b"done\n"), done.err


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ONLY_HARDENED)
def test_hardened_finds_bytes_that_were_overwritten(
    host: Any, compiled: Any, tmp_path: Path, kind: str, place: str
) -> None:
    hardened = of_profile(host, "hardened")
    found = planted(hardened, compiled(PLANTS), kind, place, tmp_path / "report")
    assert found["kind"] == ONLY_HARDENED[kind]


@pytest.mark.parametrize("how", [
    "malloc", "calloc", "aligned", "again", "grown", "moved", "shrunk"])
@pytest.mark.parametrize("size", [65536, 65537, 200_000, 1 << 20, 5_000_000])
def test_hardened_finds_a_write_behind_a_large_block(
    host: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int, how: str
) -> None:
    report = tmp_path / "report"
    done = hiding(of_profile(host, "hardened"), compiled(LARGE), "behind", str(size), how,
                  HEAPWISE_MALLOC_REPORT=str(report))
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "out-of-bounds"
    assert found["address"] == done.out.decode().split()[0]
    assert int(found["block"], 16) + found["bytes"] == int(found["address"], 16)


@pytest.mark.parametrize("size", [40_000, 65_536, 262_144, 1 << 20, 5_000_000])
def test_hardened_finds_a_write_before_a_large_block(
    host: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int
) -> None:
    report = tmp_path / "report"
    done = hiding(of_profile(host, "hardened"), compiled(LARGE), "before", str(size),
                  HEAPWISE_MALLOC_REPORT=str(report))
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "out-of-bounds"
    assert found["address"] == done.out.decode().split()[0]


@pytest.mark.parametrize("size", [40_000, 262_144, 5_000_000])
def test_nobody_can_say_where_the_next_large_block_lies(
    host: Any, compiled: Any, size: int
) -> None:
    steps = of_profile(host, "hardened").run(compiled(LARGE), "steps", str(size)).out.split()
    assert len(steps) == 64
    assert max(Counter(steps).values()) < 52  # of a fair coin, once in ten million runs


@pytest.mark.parametrize("use", ["behind", "before", "child", "later"])
@pytest.mark.parametrize("size", [8, 40, 1000, 4096, 20_000])
def test_hardened_finds_a_write_beyond_a_span_of_small_blocks(
    host: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int, use: str
) -> None:
    report = tmp_path / "report"
    done = hiding(of_profile(host, "hardened"), compiled(SPANS), use, str(size),
                  HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "out-of-bounds"
    from_end = -int(found["address"], 16) % SLICE
    assert from_end == (1 if use == "before" else 4096)
    assert found["block"] == done.out.decode().split()[0]


def test_the_memory_of_a_span_can_be_used_again(
    profile: Any, hiding: Any, compiled: Any
) -> None:
    done = hiding(profile, compiled(SPANS), "reused")
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


@pytest.mark.parametrize("limit", ["unlimited", "1000000"])
def test_spans_without_a_guard_page_are_counted(
    host: Any, hiding: Any, compiled: Any, request: pytest.FixtureRequest, limit: str
) -> None:
    """Under a limit of data a page is hidden by a mark, or not at all."""
    done = hiding(of_profile(host, "hardened"), "/bin/sh", "-c",
                  f"ulimit -d {limit}; exec {compiled(SPANS)} reused", HEAPWISE_MALLOC_STATS="1")
    assert (done.status, done.out) == (0, b"done\n"), done
    text = done.err.rsplit("profile hardened", 1)[1]
    having = int(re.search(r"spans with a guard page +(\d+)", text)[1])
    missing = int(re.search(r"spans without one +(\d+)", text)[1])
    can_hide = limit == "unlimited" or request.node.callspec.params["hiding"] == "marks"
    assert (having > 0, missing > 0) == (can_hide, not can_hide), text


def fault_of_own_heap(
    profile: Any, program: Path, use: str, size: int, report: Path, guard_every: int = 0
) -> dict[str, Any]:
    done = profile.run(program, use, size, HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_GUARD_EVERY=str(guard_every))
    assert done.status == -signal.SIGABRT, done
    found: dict[str, Any] = json.loads(report.read_text())
    return found


@pytest.mark.parametrize(("use", "kind", "size"), [
    ("twice", "double-free", 48), ("inside", "inside-block", 48), ("resized", "double-free", 48),
    ("linked", "written-after-free", 48), ("twice", "double-free", 100_000)])
def test_faults_of_blocks_of_heaps_of_their_own_are_reported(
    profile: Any, compiled: Any, tmp_path: Path, use: str, kind: str, size: int
) -> None:
    found = fault_of_own_heap(profile, compiled(OWNED), use, size, tmp_path / "report")
    assert found["kind"] == kind
    assert found["bytes"] >= size or size == 100_000


@pytest.mark.parametrize(("use", "kind"), [
    ("overrun", "overrun"), ("written", "written-after-free"), ("linked", "written-after-free"),
    ("owner", "double-free"), ("beyond", "out-of-bounds")])
@pytest.mark.parametrize("size", [40, 1000, 20_000])
def test_hardened_protects_small_blocks_of_heaps_of_their_own(
    host: Any, compiled: Any, tmp_path: Path, use: str, kind: str, size: int
) -> None:
    found = fault_of_own_heap(of_profile(host, "hardened"), compiled(OWNED), use, size,
                              tmp_path / "report")
    assert found["kind"] == kind
    assert found["block"] is not None
    assert found["bytes"] >= size


@pytest.mark.parametrize(("use", "kind", "size"), [
    ("beyond", "out-of-bounds", 100_000), ("written", "written-after-free", 100_000),
    ("beyond", "out-of-bounds", 5_000_000), ("touched", "use-after-free", 5_000_000)])
def test_hardened_protects_large_blocks_of_heaps_of_their_own(
    host: Any, compiled: Any, tmp_path: Path, use: str, kind: str, size: int
) -> None:
    found = fault_of_own_heap(of_profile(host, "hardened"), compiled(OWNED), use, size,
                              tmp_path / "report")
    assert found["kind"] == kind
    assert found["bytes"] >= size


@pytest.mark.parametrize("size", [40, 1000, 20_000, 100_000])
def test_what_heaps_of_their_own_held_is_gone(host: Any, compiled: Any, size: int) -> None:
    done = of_profile(host, "hardened").run(compiled(OWNED), "secret", size,
                                            HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert (done.status, done.out.split()) == (0, [b"cleared", b"cleared"]), done


@pytest.mark.parametrize(("use", "kind"), [
    ("sampled", "out-of-bounds"), ("ended", "use-after-free")])
def test_blocks_of_heaps_of_their_own_are_sampled(
    profile: Any, compiled: Any, tmp_path: Path, use: str, kind: str
) -> None:
    found = fault_of_own_heap(profile, compiled(OWNED), use, 2000, tmp_path / "report",
                              guard_every=1)
    assert found["kind"] == kind
    assert found["allocated"]["stack"]
    assert ("freed" in found) == (use == "ended")


@pytest.mark.parametrize("guard_every", ["0", "1", "64"])
def test_legal_uses_of_heaps_of_their_own_raise_no_alarm(
    profile: Any, compiled: Any, guard_every: str
) -> None:
    done = profile.run(compiled(OWNED), "legal", 0, HEAPWISE_MALLOC_GUARD_EVERY=guard_every)
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


@pytest.mark.parametrize("size", [8, 40, 100])
def test_half_of_the_first_blocks_have_no_neighbour(host: Any, compiled: Any, size: int) -> None:
    done = of_profile(host, "hardened").run(compiled(SPANS), "gaps", str(size),
                                            HEAPWISE_MALLOC_GUARD_EVERY="0")
    # Of 63. Means are 28 to 45 and deviations 3.5; under the default profile it is 0.
    assert 10 < int(done.out) < 62, done


@pytest.mark.parametrize(("name", "moves"), [
    ("default", False), ("guarded", True), ("hardened", True)])
def test_the_tables_of_the_heap_lie_at_random_distances(
    host: Any, compiled: Any, name: str, moves: bool
) -> None:
    program = compiled(SPANS)
    runs = [of_profile(host, name).run(program, "far", "100") for _ in range(2)]
    if any(run.status == 77 for run in runs):
        pytest.skip("the addresses of this heap are not known")
    assert [run.status for run in runs] == [0, 0]
    assert (runs[0].out != runs[1].out) == moves


def addresses_of(library: Path, names: tuple[str, ...]) -> list[str]:
    """Where the variables of these names are, in hexadecimal, from the begin of the library."""
    symbols = subprocess.run(["nm", "--demangle", _with_symbols(library)], check=True,
                             capture_output=True, text=True).stdout.splitlines()
    found = {name: line.split()[0] for name in names for line in symbols
             if line.endswith(f"::{name}")}
    assert list(found) == list(names)
    return list(found.values())


def _with_symbols(library: Path) -> Path:
    """The same library before its installation, which takes the symbols away."""
    linked = ROOT / "build/wheel/native" / library.name
    return linked if linked.exists() and _build_id(linked) == _build_id(library) else library


def _build_id(library: Path) -> str:
    notes = subprocess.run(["readelf", "--notes", library], check=True, capture_output=True,
                           text=True).stdout
    return notes.partition("Build ID: ")[2].split()[0]


@pytest.mark.parametrize("name", ["default", *PROFILES])
def test_what_the_heap_never_changes_is_read_only_once_it_has_started(
    host: Any, compiled: Any, name: str
) -> None:
    profile = of_profile(host, name)
    sealed = addresses_of(profile.library, ("the_facts", "the_options", "the_space",
                                            "the_guards"))
    constant = addresses_of(profile.library, ("no_cache", "no_later_cache", "no_blocks"))
    written = addresses_of(profile.library, ("the_large_stocks",))
    done = profile.run(compiled(SEALED), *sealed, *constant, *written,
                       HEAPWISE_MALLOC_GUARD_EVERY="0")
    fault = str(signal.SIGSEGV.value).encode()
    of_sealed = b"wrote" if name == "default" else fault
    assert done.out.split() == [of_sealed] * 4 + [fault] * 3 + [b"wrote"], done


def test_the_heap_does_not_start_if_its_facts_cannot_be_made_read_only(
    profile: Any, host: Any, compiled: Any
) -> None:
    """For lack of mappings it starts: it is promised to live without them."""
    program = compiled(SEALED)
    offsets = addresses_of(profile.library, ("the_facts",))
    plain = replace(host, library=None)

    def starts(error: str) -> list[Any]:
        return [plain.run("strace", "-f", "-qq", "-o", "/dev/null", "-E",
                          f"LD_PRELOAD={profile.library}", "-e",
                          f"inject=mprotect:error={error}:when={call}", program, *offsets)
                for call in range(1, 31)]

    refused = [done for done in starts("EPERM") if "facts read-only" in done.err]
    assert [done.status for done in refused] == [-signal.SIGABRT] * 4
    lived = [done.out for done in starts("ENOMEM") if done.status == 0]
    assert b"wrote\n" in lived


def test_a_large_block_that_waits_keeps_its_page_hidden(
    host: Any, hiding: Any, compiled: Any
) -> None:
    done = hiding(of_profile(host, "hardened"), compiled(LARGE), "waiting")
    assert (done.status, done.out.split()) == (0, [b"hidden", b"hidden", b"shown"]), done


@pytest.mark.parametrize("use", ["legal", "limited", "quiet"])
def test_legal_uses_of_large_blocks_raise_no_alarm(
    profile: Any, hiding: Any, compiled: Any, use: str
) -> None:
    done = hiding(profile, compiled(LARGE), use)
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


@pytest.mark.parametrize(("use", "kind"), [
    ("owner", "double-free"), ("written", "written-after-free")])
@pytest.mark.parametrize("size", [
    8, 128, 1000, 4096, 20_000, 32_000, 65_536, 262_144, 1_000_000, 1 << 20])
def test_a_stale_pointer_is_found_since_its_block_has_no_new_owner(
    host: Any, compiled: Any, tmp_path: Path, size: int, use: str, kind: str
) -> None:
    report = tmp_path / "report"
    done = of_profile(host, "hardened").run(
        compiled(QUARANTINE), use, size, HEAPWISE_MALLOC_REPORT=str(report),
        HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == kind
    if use == "owner":
        assert found["address"] == done.out.decode().split()[0]


@pytest.mark.parametrize("size", [40, 1000, 20_000])
def test_one_of_two_threads_that_free_a_block_at_once_is_told(
    host: Any, compiled: Any, size: int
) -> None:
    done = of_profile(host, "hardened").run(compiled(QUARANTINE, "-pthread"), "race", size,
                                            HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert (done.status, done.out) == (0, b"done\n")
    assert "it was freed before" in done.err


@pytest.mark.parametrize(("size", "least"), [
    (8, 128), (100, 128), (1000, 15), (32_000, 2), (262_144, 3), (1 << 20, 1), (5_000_000, 6)])
def test_the_address_of_a_freed_block_does_not_come_back_soon(
    host: Any, compiled: Any, size: int, least: int
) -> None:
    done = of_profile(host, "hardened").run(
        compiled(QUARANTINE), "again", size, HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == 0, done
    assert int(done.out) > least


@pytest.mark.parametrize("size", [1_200_000, 5_000_000, 30_000_000])
def test_a_touch_of_a_long_block_that_was_freed_is_reported(
    host: Any, hiding: Any, compiled: Any, tmp_path: Path, size: int
) -> None:
    report = tmp_path / "report"
    done = hiding(of_profile(host, "hardened"), compiled(HELD), "touched", str(size),
                  HEAPWISE_MALLOC_REPORT=str(report))
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == "use-after-free"
    assert found["address"] == done.out.decode().split()[0]
    assert int(found["block"], 16) + size // 2 == int(found["address"], 16)


@pytest.mark.parametrize("use", [
    ("secret", "100000"), ("secret", "1000000"), ("secret", "1048576"), ("secret", "3000000"),
    ("secret", "40000000"), ("shrunk", "1000000"), ("shrunk", "30000000"), ("locked",)])
def test_what_a_large_block_held_is_gone_when_it_is_free(
    host: Any, hiding: Any, compiled: Any, use: tuple[str, ...]
) -> None:
    done = hiding(of_profile(host, "hardened"), compiled(HELD), *use)
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


def test_a_free_does_not_make_pages_resident_that_the_block_never_touched(
    host: Any, compiled: Any
) -> None:
    done = of_profile(host, "hardened").run(compiled(HELD), "sparse")
    assert int(done.out) < 4096, done


def test_threads_and_children_free_large_blocks(
    profile: Any, hiding: Any, compiled: Any
) -> None:
    done = hiding(profile, compiled(HELD, "-pthread"), "forks")
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


def test_nothing_is_held_back_when_threads_end_and_memory_is_trimmed(
    profile: Any, compiled: Any
) -> None:
    done = profile.run(compiled(QUARANTINE), "empty", HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert (done.status, done.out, done.err) == (0, b"done\n", ""), done


@pytest.mark.parametrize(("kind", "expected"), [
    ("behind", "out-of-bounds"), ("freed", "use-after-free"), ("twice", "double-free")])
@pytest.mark.parametrize("name", ["default", *PROFILES])
def test_a_sampled_block_is_reported_with_its_stacks(
    host: Any, compiled: Any, tmp_path: Path, kind: str, expected: str, name: str
) -> None:
    """The default profile samples if it is asked to."""
    report = tmp_path / "report"
    sampling = of_profile(host, name)
    done = sampling.run(compiled(SAMPLES), kind, HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_GUARD_EVERY="1")
    assert done.status == -signal.SIGABRT, done
    found = json.loads(report.read_text())
    assert found["kind"] == expected
    assert found["allocated"]["stack"]
    assert ("freed" in found) == (kind != "behind")


@pytest.mark.parametrize("name", ["default", *PROFILES])
def test_the_stacks_of_a_sampled_block_reach_the_program(
    host: Any, compiled: Any, tmp_path: Path, name: str
) -> None:
    """Its main calls malloc and free."""
    report = tmp_path / "report"
    program = compiled(SAMPLES, "-no-pie")
    of_profile(host, name).run(program, "twice", HEAPWISE_MALLOC_REPORT=str(report),
                               HEAPWISE_MALLOC_GUARD_EVERY="1")
    symbols = subprocess.run(["nm", "--print-size", program], capture_output=True, text=True,
                             check=True).stdout
    [(begin, size)] = re.findall(r"^(\w+) (\w+) T main$", symbols, re.MULTILINE)
    end = int(begin, 16) + int(size, 16)
    found = json.loads(report.read_text())
    for call in ("allocated", "freed"):
        stack = found[call]["stack"]
        assert any(int(begin, 16) < int(address, 16) <= end for address in stack), found


def test_legal_calls_are_not_reported(profile: Any, compiled: Any) -> None:
    done = profile.run(compiled(LEGAL, "-fsized-deallocation"))
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("kind", ["sized", "aligned"])
def test_a_delete_with_another_size_is_reported(
    profile: Any, compiled: Any, tmp_path: Path, kind: str
) -> None:
    report = tmp_path / "report"
    done = profile.run(compiled(LEGAL, "-fsized-deallocation"), kind,
                       HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == -signal.SIGABRT, done
    assert json.loads(report.read_text())["kind"] == "wrong-size"


def sites_of_fault(profile: Any, program: Path, tmp_path: Path, *words: Any,
                   guard_every: int = 0) -> tuple[dict[str, Any], set[str]]:
    """The report, and those of its members that are calls of the function that they should be of:
    every block of the program is allocated in one function and freed in another one."""
    report = tmp_path / "report"
    done = profile.run(program, *words, HEAPWISE_MALLOC_REPORT=str(report),
                       HEAPWISE_MALLOC_CALL_SITES="1",
                       HEAPWISE_MALLOC_GUARD_EVERY=str(guard_every))
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
ALLOCATIONS = ["malloc", "calloc", "aligned_alloc", "posix_memalign", "realloc", "new",
               "new_aligned", "own"]


@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize("size", [40, 1000, 30_000, 200_000, 5_000_000])
def test_a_report_names_the_calls_that_allocated_and_freed_a_block(
    profile: Any, compiled: Any, tmp_path: Path, allocation: str, size: int
) -> None:
    found, right = sites_of_fault(profile, compiled(SITES), tmp_path, allocation, "free", "twice",
                                  size)
    assert found["kind"] == "double-free"
    assert right == BOTH, found


@pytest.mark.parametrize(("release", "allocation"), [
    ("realloc", "malloc"), ("delete", "new"), ("delete_sized", "new"),
    ("delete_aligned", "new_aligned"), ("thread", "malloc")])
def test_each_way_to_free_is_named(
    profile: Any, compiled: Any, tmp_path: Path, release: str, allocation: str
) -> None:
    found, right = sites_of_fault(profile, compiled(SITES), tmp_path, allocation, release,
                                  "resized", 1000)
    assert found["kind"] == "double-free"
    assert right == BOTH, found


@pytest.mark.parametrize(("fault", "allocation", "release", "size", "named"), [
    ("inside", "malloc", "none", 40, {"allocated_at"}),
    ("inside", "malloc", "none", 200_000, {"allocated_at"}),
    ("inside", "own", "none", 40, {"allocated_at"}),
    ("wrong_size", "new", "none", 40, {"allocated_at"}),
    ("wrong_size", "new", "none", 200_000, {"allocated_at"}),
])
def test_each_fault_names_its_calls(
    profile: Any, compiled: Any, tmp_path: Path, fault: str, allocation: str, release: str,
    size: int, named: set[str]
) -> None:
    found, right = sites_of_fault(profile, compiled(SITES), tmp_path, allocation, release, fault,
                                  size)
    assert right == named == BOTH & found.keys(), found


@pytest.mark.parametrize(("fault", "allocation", "release", "size", "named"), [
    ("overrun", "malloc", "none", 40, {"allocated_at"}),
    ("overrun", "own", "none", 1000, {"allocated_at"}),
    ("behind", "malloc", "none", 200_000, {"allocated_at"}),
    ("behind", "own", "none", 200_000, {"allocated_at"}),
    ("written", "malloc", "free", 40, BOTH),
    ("written", "realloc", "free", 1000, BOTH),
    ("written", "malloc", "free", 200_000, BOTH),
    ("touched", "malloc", "free", 5_000_000, BOTH),
])
def test_each_fault_that_hardened_finds_names_its_calls(
    host: Any, compiled: Any, tmp_path: Path, fault: str, allocation: str, release: str,
    size: int, named: set[str]
) -> None:
    found, right = sites_of_fault(of_profile(host, "hardened"), compiled(SITES), tmp_path,
                                  allocation, release, fault, size)
    assert right == named == BOTH & found.keys(), found


@pytest.mark.parametrize("fault", ["twice", "touched", "resized"])
@pytest.mark.parametrize("allocation", ["malloc", "new", "own"])
def test_sampled_blocks_have_call_sites_too(
    profile: Any, compiled: Any, tmp_path: Path, fault: str, allocation: str
) -> None:
    found, right = sites_of_fault(profile, compiled(SITES), tmp_path, allocation, "free", fault,
                                  2000, guard_every=1)
    assert right == BOTH, found
    assert found["allocated"]["stack"]


def test_without_the_option_there_are_no_call_sites(
    profile: Any, compiled: Any, tmp_path: Path
) -> None:
    report = tmp_path / "report"
    done = profile.run(compiled(SITES), "malloc", "free", "twice", "40",
                       HEAPWISE_MALLOC_REPORT=str(report), HEAPWISE_MALLOC_GUARD_EVERY="0")
    assert done.status == -signal.SIGABRT
    assert not BOTH & json.loads(report.read_text()).keys()


def test_other_profiles_say_that_they_keep_no_call_sites(host: Any, compiled: Any) -> None:
    done = of_profile(host, "default").run(compiled(SITES), "malloc", "free", "none", "40",
                                           HEAPWISE_MALLOC_CALL_SITES="1")
    assert done.status == 0
    assert done.err == ("heapwise: HEAPWISE_MALLOC_CALL_SITES=1: no such value; it is ignored. "
                        "Next: 0, or 1 in the profiles guarded and hardened\n")


@pytest.mark.parametrize(("program", "words"), [
    (LEGAL, []), (HELD, ["forks"]), (OWNED, ["legal", "0"]), (LARGE, ["legal"])])
def test_legal_programs_run_as_before_with_call_sites(
    profile: Any, compiled: Any, program: Path, words: list[str]
) -> None:
    flags = ["-fsized-deallocation"] if program == LEGAL else ["-pthread"]
    done = profile.run(compiled(program, *flags), *words, HEAPWISE_MALLOC_CALL_SITES="1")
    assert (done.status, done.err) == (0, "")


def test_memory_without_room_for_call_sites_is_used_all_the_same(
    profile: Any, compiled: Any
) -> None:
    """The sites take as much memory as the small blocks, so a limit leaves half of it."""
    program = compiled(DENY.parent / "limited.c")
    mib = 256
    done = replace(profile, library=None).run(
        "prlimit", f"--as={mib << 20}", "env", f"LD_PRELOAD={profile.library}",
        "HEAPWISE_MALLOC_CALL_SITES=1", program, "100", str(mib))
    assert done.status == 0, done
    assert int(done.out.split()[0]) / 1024 > mib / 5, done
