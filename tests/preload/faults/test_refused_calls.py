"""The system refuses memory, now and then or for good: nothing is lost, nobody is killed.

``strace`` makes the n-th call of one kind fail, for each n that a program comes to, once or from
then on (as SQLite's own tests do with its allocator).
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MOST_CALLS = int(os.environ.get("HEAPWISE_MOST_FAULTS", "12"))
MOST_LINES = 3  # of the library, on standard error
SCENES = ("small", "large", "threads")
FAULTS = (
    ("mmap", "ENOMEM"),
    ("munmap", "ENOMEM"),
    ("munmap", "EINVAL"),
    ("mprotect", "ENOMEM"),
    ("madvise", "EINVAL"),
    ("madvise", "ENOMEM"),
    ("mremap", "ENOMEM"),
)
LOADER = re.compile(
    r"error while loading shared libraries|failed to map|cannot allocate memory"
    r"|cannot apply additional memory protection|cannot be preloaded"
)
HANDLED = 0
NOT_STARTED = 127


@pytest.fixture(scope="module")
def strace() -> str:
    found = shutil.which("strace", path="/usr/bin:/bin")
    if found is None:
        pytest.fail("strace is not installed: apt install strace")
    return found


def traced(heap: Any, *options: str, program: Path, words: tuple[str, ...]) -> Any:
    """The program under strace; only the program is preloaded."""
    # Told to strace alone: its own malloc is not what is tested.
    preload = ("-E", f"LD_PRELOAD={heap.library}") if heap.library else ()
    return replace(heap, library=None).run(*options, *preload, program, *words, timeout_s=120)


def calls_made(
    heap: Any, strace: str, call: str, program: Path, words: tuple[str, ...], log: Path
) -> tuple[int, int]:
    """How many calls of this kind the first thread makes in all, and until its code is loaded."""
    done = traced(
        heap,
        strace,
        "-qq",
        "-o",
        str(log),
        "-e",
        f"trace={call},set_tid_address",
        program=program,
        words=words,
    )
    assert done.status == HANDLED, done.err
    lines = log.read_text().splitlines()
    loaded = next(n for n, line in enumerate(lines) if line.startswith("set_tid_address"))
    calls = [n for n, line in enumerate(lines) if line.startswith(f"{call}(")]
    return len(calls), sum(n < loaded for n in calls)


def assert_lived(done: Any, when: str) -> None:
    """It came to its end, or the loader could not even start it and said so."""
    if done.status == NOT_STARTED and LOADER.search(done.err):
        return
    assert done.status == HANDLED, f"when={when}: status {done.status}, {done.err[-600:]}"
    assert done.out.startswith(b"done"), f"when={when}: {done.out!r}"
    assert len(done.err.splitlines()) <= MOST_LINES, f"when={when}: the same, again and again"


def moments(total: int, loaded: int) -> Iterator[int]:
    """Every call after the loading up to MOST_CALLS, then ever fewer of them."""
    after = list(range(loaded + 1, total + 1))
    yield from after[:MOST_CALLS]
    step = max(1, len(after[MOST_CALLS:]) // 5)
    yield from after[MOST_CALLS::step]


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(("call", "error"), FAULTS, ids=lambda word: str(word))
def test_every_call_that_fails_is_lived_with(
    heap: Any, compiled: Any, strace: str, tmp_path: Path, scene: str, call: str, error: str
) -> None:
    program = compiled(HERE / "survivor.c")
    total, loaded = calls_made(heap, strace, call, program, (scene, "recovers"), tmp_path / "log")
    for n in moments(total, loaded):
        for when, words in ((f"{n}", (scene, "recovers")), (f"{n}+", (scene,))):
            done = traced(
                heap,
                strace,
                "-f",
                "-qq",
                "--seccomp-bpf",
                "-o",
                "/dev/null",
                "-e",
                f"trace={call}",
                "-e",
                f"inject={call}:error={error}:when={when}",
                program=program,
                words=words,
            )
            assert_lived(done, when)


def test_the_faults_are_noticed(heap: Any, compiled: Any, strace: str, tmp_path: Path) -> None:
    """A sweep in which nothing ever fails would prove nothing."""
    program = compiled(HERE / "survivor.c")
    _, loaded = calls_made(heap, strace, "mmap", program, ("large",), tmp_path / "log")
    inject = f"inject=mmap,mprotect,mremap:error=ENOMEM:when={loaded + 1}+"
    done = traced(
        heap,
        strace,
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        inject,
        program=program,
        words=("large",),
    )
    assert_lived(done, "always")
    refused = re.fullmatch(rb"done (\d+)\n", done.out)
    assert done.status == NOT_STARTED or (refused and int(refused[1]) > 0), done.out


# By x86-64's numbers: mremap, madvise, sched_getaffinity, getrandom, membarrier, rseq, prlimit64.
EXTRAS = {
    "mremap": 25,
    "madvise": 28,
    "sched_getaffinity": 204,
    "getrandom": 318,
    "membarrier": 324,
    "rseq": 334,
    "prlimit64": 302,
    "clock_gettime": 228,
    "sysinfo": 99,
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="written for x86-64's system calls")
@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM], ids=["ENOSYS", "EPERM"])
@pytest.mark.parametrize("scene", SCENES)
def test_calls_that_a_sandbox_denies_from_the_start(
    heap: Any, host: Any, compiled: Any, scene: str, error: int
) -> None:
    program, deny = compiled(HERE / "survivor.c"), compiled(HERE / "deny.c")
    preload = [f"LD_PRELOAD={heap.library}"] if heap.library else []
    for denied in [*([number] for number in EXTRAS.values()), EXTRAS.values()]:
        done = host.run(
            deny,
            str(error),
            *map(str, denied),
            "--",
            "/usr/bin/env",
            *preload,
            program,
            scene,
            "recovers",
        )
        assert (done.status, done.out) == (0, b"done 0\n"), f"{denied}: {done.status} {done.err}"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="written for x86-64's system calls")
@pytest.mark.parametrize("words", [(), ("moves",)], ids=["plain", "moves"])
def test_a_sandbox_after_the_first_malloc(heap: Any, compiled: Any, words: tuple[str, ...]) -> None:
    """The C library's own malloc does not promise this: it asks for a random number per thread.

    A sandbox that forbids threads needs a heap without its own, which it starts when it is due. One
    that forbids to ask for the number and the place of a thread needs a heap without samples in
    guarded pages.
    """
    done = heap.run(
        compiled(HERE / "confined.c"),
        *words,
        HEAPWISE_MALLOC_PURGE_THREAD="0",
        HEAPWISE_MALLOC_GUARD_EVERY="0",
    )
    if heap.library:
        assert (done.status, done.out) == (0, b"done\n"), done.err


@pytest.mark.parametrize("kind", ["mmap", "writable"])
@pytest.mark.parametrize("most_mib", [16, 128, 1024])
def test_no_large_mappings(heap: Any, host: Any, compiled: Any, kind: str, most_mib: int) -> None:
    """As where memory is not overcommitted, or address space is scarce: it keeps less for itself.

    What is not writable costs a system without overcommit nothing, so nothing may fail there; where
    no large mapping is given at all, the heap may end where its largest one does.
    """
    program, deny = compiled(HERE / "survivor.c"), compiled(HERE / "deny.c")
    preload = [f"LD_PRELOAD={heap.library}"] if heap.library else []
    for scene in SCENES:
        done = host.run(
            deny,
            str(errno.ENOMEM),
            f"{kind}+{most_mib << 20}",
            "--",
            "/usr/bin/env",
            *preload,
            program,
            scene,
        )
        assert done.status == 0, f"{scene}: {done.status} {done.err}"
        assert done.out == b"done 0\n" or (kind == "mmap" and scene == "large"), done.out


@pytest.mark.parametrize("call", ["mprotect", "mmap"])
def test_no_more_mappings(heap: Any, compiled: Any, call: str) -> None:
    done = heap.run(compiled(HERE / "many_mappings.c"), call, timeout_s=120)
    if done.status == 77:
        pytest.skip("this kernel has no limit of mappings")
    assert done.status == 0, done.err
    assert done.out.startswith(b"done")
    if heap.is_ours:
        assert done.out.endswith(b" and 0 refused\n")
