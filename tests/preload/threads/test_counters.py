"""Threads that count what they allocate and free."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
INCLUDE = f"-I{ROOT / 'include'}"
PROFILES = ("libheapwise-malloc.so", "libheapwise-malloc-fast.so", "libheapwise-malloc-guarded.so")
HARDENED = "libheapwise-malloc-hardened.so"
PREFIX = "HEAPWISE_MALLOC"


@pytest.fixture(autouse=True)
def _ours(heap: Any) -> None:
    if not heap.is_ours:
        pytest.skip("counters of this library")


@pytest.mark.parametrize("library", [*PROFILES, HARDENED])
def test_counters_are_exact_in_each_profile(
    heap: Any, native: Path, compiled: Any, library: str
) -> None:
    program = compiled(HERE / "counters.cpp", INCLUDE, str(native / library))
    done = heap.run(program, LD_PRELOAD=str(native / library))
    assert (done.status, done.out) == (0, b"as counted\n"), (done.out, done.err)


@pytest.mark.parametrize(
    ("option", "value"), [("PROFILE_EVERY", "4096"), ("GUARD_EVERY", "1"), ("SHARDS", "4")]
)
def test_counters_are_exact_while_blocks_give_way_to_others(
    heap: Any, compiled: Any, option: str, value: str
) -> None:
    program = compiled(HERE / "counters.cpp", INCLUDE, str(heap.library))
    done = heap.run(program, **{f"{PREFIX}_{option}": value})
    assert (done.status, done.out) == (0, b"as counted\n"), (done.out, done.err)


PROGRAMS = {
    "python3": ["python3", "-c", "import json; print(len(json.dumps(list(range(20000)))))"],
    "perl": ["perl", "-e", "$h{$_} = [$_] for 1..20000; print scalar keys %h"],
    "sqlite3": [
        "sqlite3",
        ":memory:",
        "create table t(a); with recursive c(x) as (select 1 union all select x + 1 from c "
        "where x < 20000) insert into t select x || 'abc' from c; select count(*), max(a) from t;",
    ],
    "gawk": ["gawk", 'BEGIN { for (i = 0; i < 20000; ++i) a[i] = i "x"; print length(a) }'],
    "bash": ["bash", "-c", "a=({1..20000}); echo ${#a[@]}"],
    "sort": ["sh", "-c", "seq 20000 | sort -r | md5sum"],
    "git": ["git", "--no-pager", "-C", str(ROOT), "log", "-n", "20", "--format=%s"],
    "cc1": ["gcc", "-O1", "-S", "-o", "-", "-x", "c", "/dev/null"],
    "openssl": ["openssl", "list", "-digest-algorithms"],
    "xz": ["sh", "-c", "seq 20000 | xz -T1 | xz -d | md5sum"],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_real_program_does_the_same_while_its_first_thread_counts(
    heap: Any, compiled: Any, tmp_path: Path, name: str
) -> None:
    counting = compiled(HERE / "counts_all.c", INCLUDE, "-shared", "-fPIC")
    file = tmp_path / "counts"
    plain = heap.run(*PROGRAMS[name])
    counted = heap.run(
        *PROGRAMS[name], LD_PRELOAD=f"{heap.library}:{counting}", COUNTS_FILE=str(file)
    )
    assert (counted.status, counted.out) == (plain.status, plain.out), counted.err
    assert plain.status == 0
    lines = file.read_text().splitlines()
    told = [re.fullmatch(r"(\d+) (\d+) (\d+) (\d+)", line) for line in lines]
    counts = [tuple(map(int, line.groups())) for line in told if line is not None]
    assert len(counts) == len(lines) > 0
    for allocated_bytes, freed_bytes, allocated, freed in counts:
        assert 0 <= freed <= allocated
        assert (freed == 0) == (freed_bytes == 0)
        assert freed_bytes <= allocated_bytes
        assert allocated_bytes >= 16 * allocated
    assert any(freed > 0 for _, _, _, freed in counts)
