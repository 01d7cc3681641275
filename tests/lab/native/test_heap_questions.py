"""The heap experiments see what they ask for: known faults are planted in a malloc."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

COMMON = """
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
"""

ALWAYS_MOVES = """
void *realloc(void *old, size_t size) {
    void *block = __libc_malloc(size);
    if (old == NULL || block == NULL) return block;
    size_t held = malloc_usable_size(old);
    memcpy(block, old, held < size ? held : size);
    __libc_free(old);
    return block;
}
"""

DELAY_MS, SEEN = 200, 0.75
"""More than the longest call of the C library at smoke size; and what must be seen of it at least:
where the thread stood still just before the call, the wrong time is taken off."""

LONG_CALL = """
static void delay(void);
void *malloc(size_t size) {
    static atomic_int larger;
    if (size >= 2560 && atomic_fetch_add(&larger, 1) == 50) delay();
    return __libc_malloc(size);
}
"""

LASTS = (
    LONG_CALL
    + """
static void delay(void) {
    struct timespec start, now;
    clock_gettime(CLOCK, &start);
    do {
        DO;
        clock_gettime(CLOCK, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < MS);
}
"""
)

COMPUTES = (
    f"""
#define CLOCK CLOCK_THREAD_CPUTIME_ID
#define DO (void)0
#define MS {DELAY_MS}
"""
    + LASTS
)

LETS_OTHERS_RUN = (
    f"""
#define CLOCK CLOCK_MONOTONIC
#define DO sched_yield()
#define MS {DELAY_MS}
"""
    + LASTS
)

WAITS = (
    LONG_CALL
    + f"""
static void delay(void) {{
    struct timespec time = {{0, {DELAY_MS}000000L}};
    nanosleep(&time, NULL);
}}
"""
)

KEPT_BYTES = 64 * 1024

KEEPS_FOR_EACH_THREAD = f"""
static _Thread_local int started __attribute__((tls_model("initial-exec")));
void *malloc(size_t size) {{
    if (!started) {{
        started = 1;
        void *kept = mmap(NULL, {KEPT_BYTES}, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (kept != MAP_FAILED) memset(kept, 1, {KEPT_BYTES});
    }}
    return __libc_malloc(size);
}}
"""

DIES_WITHOUT_MEMORY = """
void *malloc(size_t size) {
    void *block = __libc_malloc(size);
    if (block == NULL) abort();
    return block;
}
"""

NEVER_FREES = "void free(void *block) { (void)block; }"

RESERVES_ADDRESSES = """
__attribute__((constructor)) static void reserve(void) {
    mmap(NULL, 1UL << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
"""

COUNTS_FREES_OF_OTHERS = """
static _Atomic uintptr_t owners[1 << 22];
static atomic_long frees, of_others;
static _Atomic uintptr_t *owner_of(void *block) {
    return &owners[(uintptr_t)block * 0x9e3779b97f4a7c15UL >> 42]; // two blocks rarely share one
}
void *malloc(size_t size) {
    void *block = __libc_malloc(size);
    *owner_of(block) = (uintptr_t)pthread_self();
    return block;
}
void free(void *block) {
    frees++;
    of_others += block != NULL && *owner_of(block) != (uintptr_t)pthread_self();
    __libc_free(block);
}
__attribute__((destructor)) static void say(void) {
    fprintf(stderr, "%f\\n", (double)of_others / (double)frees);
}
"""

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(native: Path, tmp_path: Path) -> Ask:
    """Runs an experiment of the family at smoke size under a malloc that is written here; returns
    the values of its last sample, the detail of its check of the work, and its stderr."""

    def run(name: str, planted: str = "", **settings: str | int) -> dict[str, Any]:
        library = ""
        if planted:
            source, built = tmp_path / "planted.c", tmp_path / "planted.so"
            source.write_text(COMMON + planted)
            subprocess.run(
                [
                    "gcc",
                    "-shared",
                    "-fPIC",
                    "-fno-builtin",
                    "-O1",
                    "-Wall",
                    "-Werror",
                    str(source),
                    "-o",
                    str(built),
                ],
                check=True,
            )
            library = str(built)
        chosen = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        binary = native / "experiments" / "heap" / name
        done = subprocess.run(
            [str(binary), "--subject", "malloc", "--smoke", *chosen],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "LD_PRELOAD": library},
        )
        assert done.returncode == 0, done.stderr + done.stdout
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        samples = [line["values"] for line in lines if line["kind"] == "sample"]
        refused = [line["reason"] for line in lines if line["kind"] == "refused"]
        work = [line["detail"] for line in lines if line.get("id") == "work"]
        return {
            **(samples[-1] if samples else {}),
            "work": "".join(work),
            "stderr": done.stderr,
            "refused": "".join(refused),
        }

    return run


def test_a_realloc_that_always_moves_moves_more_than_it_adds(ask: Ask) -> None:
    """Half more each time: what is copied adds up to twice the growth, and a bit."""
    cell = {"at_once": 1, "neighbours": "without"}
    moved = ask("realloc_mixed", ALWAYS_MOVES, **cell)["moved"]
    assert 1.9 < moved < 3.1
    assert ask("realloc_mixed", **cell)["moved"] < moved / 4  # glibc grows the last block in place


@pytest.mark.parametrize("planted", [COMPUTES, WAITS])
def test_one_long_call_is_found(ask: Ask, planted: str) -> None:
    """In every play: else the least of the maxima would be that of another call."""
    assert ask("worst_call", planted, shape="survivors")["alloc_max"] >= SEEN * DELAY_MS * 1e6


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """A process that always wants the processor that this one is kept to, with all it starts. The
    limit ends it if the tests are killed."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    neighbour = subprocess.Popen(["sh", "-c", "ulimit -t 60; while :; do :; done"])
    try:
        yield
    finally:
        neighbour.kill()
        neighbour.wait()
        os.sched_setaffinity(0, allowed)


def test_time_that_the_scheduler_gave_to_others_is_taken_off(ask: Ask) -> None:
    """The neighbour has at least half of the time of the long call."""
    with busy_neighbour():
        found = ask("worst_call", LETS_OTHERS_RUN, shape="survivors")
    interrupted = int(found["work"].split(" calls judged, ")[1].split(" of them")[0])
    assert interrupted > 0, found["work"]
    assert found["alloc_max"] < SEEN * DELAY_MS * 1e6


def test_memory_that_an_allocator_keeps_for_each_thread_is_seen(ask: Ask) -> None:
    found = ask("idle_threads", KEEPS_FOR_EACH_THREAD)
    assert found["per_thread_memory"] >= KEPT_BYTES
    assert found["per_thread_memory_0s"] >= KEPT_BYTES
    assert found["per_told_thread_memory"] >= KEPT_BYTES  # it has no call for threads that wait
    assert found["silent_thread_memory"] >= 32 * 1024  # of the stack, touched on purpose


def test_an_allocator_that_dies_at_a_limit_has_not_survived(ask: Ask) -> None:
    found = ask("limits", DIES_WITHOUT_MEMORY, limit="data")
    assert (found["survived"], found["reused"]) == (0, 0)
    assert 0 < found["allocated"] < 1
    assert found["work"].startswith("died (signal 6)")


def test_memory_that_is_never_freed_cannot_be_used_again(ask: Ask) -> None:
    lost, kept = (ask("limits", planted, limit="address_space") for planted in (NEVER_FREES, ""))
    assert lost["survived"] == kept["survived"] == 1
    assert lost["reused"] < 0.2 < 0.5 < kept["reused"]


def test_reserved_addresses_count_towards_a_limit_that_comes_later(ask: Ask) -> None:
    reserved, plain = (
        ask("limits", planted, limit="address_space") for planted in (RESERVES_ADDRESSES, "")
    )
    assert reserved["allocated"] < 0.2 < 0.5 < plain["allocated"] < 1


def test_without_strict_overcommit_its_cell_is_refused_with_the_reason(ask: Ask) -> None:
    strict = Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2"
    assert ("vm.overcommit_memory" in ask("limits", limit="overcommit")["refused"]) != strict


def test_one_block_of_eight_is_freed_by_another_thread(ask: Ask) -> None:
    share = float(ask("many_threads", COUNTS_FREES_OF_OTHERS, threads=16)["stderr"])
    assert 0.05 < share < 0.2
