"""The options of the library, set in the environment of real processes."""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
ALLOCATES = Path(__file__).parent / "allocates.c"
PREFIX = "HEAPWISE_MALLOC_"
PAGE = "heapwise malloc, profile "

LABORATORY = {
    "HEAPWISE_PAD": "x" * 4000,
    "HEAPWISE_PROBE_OUT": "/dev/null",
    "HEAPWISE_COUNT_OUT": "/dev/null",
    "HEAPWISE_STORE": "/s",
    "HEAPWISE_NATIVE": "/n",
    "HEAPWISE_PEERS": "/p",
    "HEAPWISE_TREES": "/t",
    "HEAPWISE_RUNS": "3",
    "HEAPWISE_GC_MARKERS": "many",
    "HEAPWISE_GC_NEW": "1",
}


@pytest.fixture(autouse=True)
def _ours(heap: Any) -> None:
    if not heap.is_ours:
        pytest.skip("the options of this library")


def names_of(heap: Any, compiled: Any) -> list[str]:
    """The options that the library knows, as it lists them."""
    said = heap.run(compiled(ALLOCATES), **{f"{PREFIX}NEW": "1"}).err
    found = re.fullmatch(
        f"heapwise: {PREFIX}NEW=1: no such option; it is ignored. Next: ([A-Z_, ]+)\n", said
    )
    assert found, said
    return found[1].split(", ")


def test_variables_of_the_laboratory_and_of_the_collector_are_passed_over(
    heap: Any, compiled: Any
) -> None:
    done = heap.run(compiled(ALLOCATES), **LABORATORY)
    assert (done.status, done.err) == (0, "")


def test_the_documented_options_are_those_of_the_library(heap: Any, compiled: Any) -> None:
    text = (ROOT / "docs/how-to/use-the-heap.md").read_text()
    documented = re.findall(rf"^\| `{PREFIX}([A-Z_]+)=", text, flags=re.MULTILINE)
    assert documented == names_of(heap, compiled)


def test_the_laboratory_takes_every_option_out_of_a_measured_program(
    heap: Any, compiled: Any
) -> None:
    declared = tomllib.loads((ROOT / "peers/heapwise/peer.toml").read_text())
    prefixes = tuple(declared["environment_prefixes"])
    for name in names_of(heap, compiled):
        assert f"{PREFIX}{name}".startswith(prefixes)
    assert not any(name.startswith(prefixes) for name in LABORATORY)


def test_options_are_read_if_a_resolver_allocates_first(heap: Any, compiled: Any) -> None:
    program = compiled(Path(__file__).parent / "resolver.c")
    done = heap.run(program, HEAPWISE_MALLOC_STATS="1")
    assert done.status == 0
    assert done.err.startswith(PAGE)
    assert done.err.count(PAGE) == 1


@pytest.mark.parametrize("words", [[], ["and sets another variable"]])
def test_options_are_read_if_the_program_clears_its_environment_first(
    heap: Any, compiled: Any, words: list[str]
) -> None:
    program = compiled(Path(__file__).parent / "clears.c")
    done = heap.run(program, *words, HEAPWISE_MALLOC_STATS="1")
    assert done.status == 0
    assert done.err.startswith(PAGE)


def test_a_name_without_malloc_is_not_read(heap: Any, compiled: Any) -> None:
    done = heap.run(compiled(ALLOCATES), HEAPWISE_STATS="1")
    assert (done.status, done.err) == (0, "")


WAYS_TO_GIVE_BACK = ["spans", "blocks", "cleared", "shorter"]


def pages_asked_for(heap: Any, compiled: Any, way: str, option: str) -> set[str]:
    """What the heap asked for all of its memory after it gave some back in this way."""
    done = heap.run(
        compiled(Path(__file__).parent / "huge_pages.c"),
        way,
        HEAPWISE_MALLOC_HUGE_PAGES=option,
        HEAPWISE_MALLOC_PURGE_THREAD="0",
        HEAPWISE_MALLOC_GUARD_EVERY="0",  # a block between guarded pages has one of its own
    )
    assert (done.status, done.err) == (0, "")
    said = [word for word in done.out.decode().split() if len(word) == 2]
    if "??" in said:
        pytest.skip("the system does not say what was asked of it (CONFIG_PROC_PAGE_MONITOR)")
    assert len(said) == 9
    return set(said)


@pytest.mark.parametrize(
    ("option", "flags"), [("never", {"nh"}), ("0", {"nh", "--"}), ("1", {"hg"}), ("always", {"hg"})]
)
def test_huge_pages_are_asked_for_on_request_and_for_all_of_the_heap(
    heap: Any, compiled: Any, option: str, flags: set[str]
) -> None:
    """By default the first 4 MiB are in small pages, and the rest in what the system gives."""
    # The profile hardened gives the pages of each large block back that is freed.
    gives_back = "hardened" in heap.name and option != "always"
    assert pages_asked_for(heap, compiled, "none", option) == ({"nh"} if gives_back else flags)


@pytest.mark.parametrize("way", WAYS_TO_GIVE_BACK)
@pytest.mark.parametrize("option", ["0", "1", "always"])
def test_memory_that_went_back_is_not_filled_up_with_huge_pages(
    heap: Any, compiled: Any, way: str, option: str
) -> None:
    """From the first pages on that go back, all of the heap is in small pages, unless the user
    wants huge ones always."""
    asked = pages_asked_for(heap, compiled, way, option)
    assert asked == ({"hg"} if option == "always" else {"nh"})


LATE = {"HEAPWISE_MALLOC_PURGE_DELAY_MS": "60000"}


def resident_after_free(heap: Any, *command: str | Path, **options: str) -> tuple[int, int]:
    """MiB that are resident some time after 100 MiB were freed, and before that."""
    done = heap.run(*command, **LATE, **options)
    assert (done.status, done.err) == (0, "")
    after, before = done.out.decode().split(" of ")
    return int(after), int(before)


def test_free_memory_above_the_soft_limit_goes_back_before_it_is_old(
    heap: Any, compiled: Any
) -> None:
    program = compiled(Path(__file__).parent / "soft_limit.c")
    after, before = resident_after_free(heap, program, HEAPWISE_MALLOC_SOFT_LIMIT_MIB="32")
    assert before > 95
    assert after < before / 2
    after, before = resident_after_free(heap, program, HEAPWISE_MALLOC_SOFT_LIMIT_MIB="4096")
    assert after > before / 2


GROUPS = Path("/sys/fs/cgroup")


@pytest.fixture
def resident_before(heap: Any, compiled: Any) -> int:
    """MiB that are resident before the program frees what it has: a profile may add to it."""
    return resident_after_free(heap, compiled(Path(__file__).parent / "soft_limit.c"))[1]


@pytest.fixture
def small_group(resident_before: int) -> Iterator[Path]:
    """A control group whose processes may use little more than the program does."""
    # Pages of files are resident in the program, and mostly charged to the process that read them
    # first: more than seven eighths of the limit are used without them as well.
    limit = str((resident_before + 8) << 20)
    older = (GROUPS / "memory/memory.limit_in_bytes").exists()
    folder = GROUPS / "memory" if older else GROUPS
    group = folder / f"heapwise-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group may be made here: {error}")
    try:
        (group / ("memory.limit_in_bytes" if older else "memory.max")).write_text(limit)
    except OSError as error:
        group.rmdir()
        pytest.skip(f"no limit of memory may be set here: {error}")
    yield group
    for _ in range(100):
        try:
            group.rmdir()
            break
        except OSError:
            time.sleep(0.05)


def test_free_memory_goes_back_before_it_is_old_if_the_control_group_has_little_left(
    heap: Any, compiled: Any, small_group: Path
) -> None:
    program = compiled(Path(__file__).parent / "soft_limit.c")

    enter = f'echo $$ > {small_group}/cgroup.procs && exec "$0"'
    command = ("sh", "-c", enter, program)
    after, before = resident_after_free(heap, *command, HEAPWISE_MALLOC_SOFT_LIMIT_MIB="auto")
    assert after < before / 2
    after, before = resident_after_free(heap, *command)
    assert after > before / 2
