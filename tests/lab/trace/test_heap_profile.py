"""Heap profiles of other tools: read where they carry enough, refused with the reason otherwise."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from heapwise.cli.frame.tell.fitted_lines import shown
from heapwise.errors import Problem
from heapwise.study.recording.heap_profile_tables import heap_profile_passages
from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.exports.pprof import pprof
from heapwise.trace.heap_profile import (
    heap_sites,
    is_heap_profile,
    profile_difference,
    read_heap_profile,
)
from heapwise.trace.names.call_stacks import call_stacks
from heapwise.trace.names.symbols import Place, Symbols
from heapwise.trace.names.wrappers import Wrappers

Record = Callable[..., Path]

GPERFTOOLS = """heap profile:      3:     3072 [     5:     5120] @ heapprofile
     2:     2048 [     4:     4096] @ 0x0000000000001000 0x0000000000002000
     1:     1024 [     1:     1024] @ 0x0000000000003000

MAPPED_LIBRARIES:
00000000-00010000 r-xp 00000000 00:00 0 /no/such/program
"""

JEMALLOC = """heap_v2/524288
  t*: 3: 1049600 [0: 0]
  t0: 3: 1049600 [0: 0]
@ 0x1000 0x2000
  t*: 2: 1048576 [0: 0]
  t0: 2: 1048576 [0: 0]
@ 0x3000
  t*: 1: 1024 [0: 0]

MAPPED_LIBRARIES:
"""


def test_our_own_export_is_read_back(known: Path, record: Record, tmp_path: Path) -> None:
    with open_trace(record(known, "threads", "40")) as opened:
        found = read_contents(opened)
        stacks = call_stacks(opened, found, Symbols(opened.modules))
        (tmp_path / "known.pb.gz").write_bytes(pprof(opened, stacks))
        assert opened.summary is not None
        peak = opened.summary.peak_live_bytes
    profile = read_heap_profile(tmp_path / "known.pb.gz")
    totals = dict(zip((name for name, _ in profile.kinds), profile.totals(), strict=True))
    assert (totals["alloc_objects"], totals["alloc_space"]) == (found.blocks, found.bytes)
    assert totals["peak_space"] == peak
    said = "\n".join(shown(heap_profile_passages(profile, Wrappers(), 10)))
    assert "lifetimes" in said
    assert "need a trace" in " ".join(said.split())
    assert max(map(len, said.splitlines()[3:])) <= 80


GO = """package main

import (
\t"os"
\t"runtime"
\t"runtime/pprof"
)

var kept [][]byte

//go:noinline
func keep() {
\tfor i := 0; i < 100; i++ {
\t\tkept = append(kept, make([]byte, 10000))
\t}
}

func main() {
\truntime.MemProfileRate = 1
\tkeep()
\truntime.GC()
\tfile, _ := os.Create(os.Args[1])
\tpprof.WriteHeapProfile(file)
\tfile.Close()
\truntime.KeepAlive(kept)
}
"""


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_a_profile_of_go_is_read(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(GO)
    subprocess.run(["go", "run", "main.go", "go.pb.gz"], cwd=tmp_path, check=True, timeout=300)
    profile = read_heap_profile(tmp_path / "go.pb.gz")
    assert ("inuse_space", "bytes") in profile.kinds
    lines = list(shown(heap_profile_passages(profile, Wrappers(), 1)))
    assert any("main.keep (main.go:14)" in line and " 99." in line for line in lines), lines


def test_the_text_of_gperftools_is_read(tmp_path: Path) -> None:
    path = tmp_path / "program.0001.heap"
    path.write_text(GPERFTOOLS)
    assert is_heap_profile(path)
    profile = read_heap_profile(path)
    assert profile.totals() == [3, 3072, 5, 5120]
    assert profile.stacks[0].places[0].name == "program+0xfff"


def test_the_samples_of_jemalloc_are_scaled(tmp_path: Path) -> None:
    path = tmp_path / "jeprof.out.1.0.f.heap"
    path.write_text(JEMALLOC)
    profile = read_heap_profile(path)
    assert [name for name, _ in profile.kinds] == ["inuse_objects", "inuse_space"]
    large, small = (stack.values for stack in profile.stacks)
    # jeprof: 1 / (1 - exp(-size / rate)), here of sizes 524288 and 1024.
    assert large == (3, 1658823)
    assert small == (513, 524800)


def test_a_difference_of_two_profiles_may_sum_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "zero.pb"
    kind = b"\x0a\x04\x08\x01\x10\x02"
    minus_five = b"\xfb" + b"\xff" * 8 + b"\x01"
    samples = b"\x12\x04\x08\x01\x10\x05\x12\x0d\x08\x02\x10" + minus_five
    locations = b"\x22\x02\x08\x01\x22\x04\x08\x02\x18\x05"
    path.write_bytes(kind + samples + locations + b"\x32\x00\x32\x05space\x32\x05bytes")
    profile = read_heap_profile(path)
    assert [stack.values for stack in profile.stacks] == [(5,), (-5,)]
    assert any("+0x5" in line for line in shown(heap_profile_passages(profile, Wrappers(), 5)))


def packed(content: bytes) -> bytes:
    """Without a date: two processes of pytest must collect the same tests."""
    return gzip.compress(content, mtime=0)


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b",
        packed(b"\x0a\xff"),
        packed(b"nothing"),
        packed(b""),
        b"heap profile: nothing",
        packed(b"\x32\x00\x12\x02\x10\x01"),
    ],
)
def test_damage_is_a_problem_of_the_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.pb.gz"
    path.write_bytes(content)
    with pytest.raises(Problem) as refused:
        read_heap_profile(path)
    assert refused.value.id == "E062"


def test_each_cut_of_a_profile_is_read_or_refused(
    known: Path, record: Record, tmp_path: Path
) -> None:
    with open_trace(record(known, "calls")) as opened:
        stacks = call_stacks(opened, read_contents(opened), Symbols(opened.modules))
        whole = gzip.decompress(pprof(opened, stacks))
    path = tmp_path / "cut.pb"
    refused = 0
    for end in range(0, len(whole), max(1, len(whole) // 200)):
        path.write_bytes(whole[:end])
        try:
            read_heap_profile(path)
        except Problem:
            refused += 1
    assert refused > 100


def test_a_heap_profile_cannot_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "go.pb.gz"
    path.write_bytes(gzip.compress(b"x"))
    with pytest.raises(Problem, match="heap profile of another tool"):
        open_trace(path)


def test_the_insides_of_a_stripped_allocator_are_skipped(tmp_path: Path) -> None:
    """jemalloc counts its own frames. Debian's has no symbols, and neither has this program."""
    path = tmp_path / "je.heap"
    path.write_text(
        "heap_v2/524288\n  t*: 2: 200 [0: 0]\n@ 0x7f0000001200 0x7f0000001100 0x400010\n"
        "  t*: 1: 100 [0: 0]\n@ 0x7f0000001200 0x400020\n  t*: 1: 100 [0: 0]\n\n"
        "MAPPED_LIBRARIES:\n"
        "00400000-00401000 r-xp 00000000 00:00 1 /gone/program\n"
        "7f0000001000-7f0000002000 r-xp 00001000 00:00 2 /gone/libjemalloc.so.2\n"
    )
    profile = read_heap_profile(path)
    found = {place.name for place, _ in heap_sites(profile, Wrappers()) if place}
    assert found == {"program+0xf", "program+0x1f"}
    found = {place.name for place, _ in heap_sites(profile, Wrappers(["program.0xf$"])) if place}
    assert found == {"program+0x1f", "libjemalloc.so.2+0x11ff"}


@pytest.mark.parametrize(
    ("name", "is_inside"),
    [
        ("/usr/lib/libjemalloc.so.2", True),
        ("/x/libtcmalloc_minimal.so.4.5.9", True),
        ("/x/libmimalloc.so.2.0", True),
        ("/x/libtbbmalloc_proxy.so.2", True),
        ("/x/libheapwise-malloc-guarded.so", True),
        ("/x/libclang_rt.scudo_standalone-x86_64.so", True),
        ("/x/libc.so.6", False),
        ("/x/program", False),
        ("/x/libjemalloc.so.2/program", False),
    ],
)
def test_the_libraries_of_allocators_are_known_by_their_names(name: str, is_inside: bool) -> None:
    places = [Place(name, 1), Place("/x/program", 2, "main")]
    assert Wrappers().beyond(places) == int(is_inside)


LATER = GPERFTOOLS.replace("2:     2048 [     4", "5:     5120 [     9").replace(
    "1:     1024 [     1:     1024] @ 0x0000000000003000",
    "4:      400 [     4:      400] @ 0x0000000000004000",
)


def test_two_profiles_are_told_as_what_grew_between_them(tmp_path: Path) -> None:
    for name, text in (("before.heap", GPERFTOOLS), ("after.heap", LATER)):
        (tmp_path / name).write_text(text)
    before, after = (read_heap_profile(tmp_path / name) for name in ("before.heap", "after.heap"))
    found = profile_difference(before, after)
    live = found.column("inuse_space")
    assert live is not None
    assert sorted(stack.values[live] for stack in found.stacks) == [-1024, 400, 3072]
    assert profile_difference(after, after).stacks == []
    said = "\n".join(shown(heap_profile_passages(found, Wrappers(), 10)))
    assert "after.heap less" in " ".join(said.split())
    assert said.index("3 KiB ") < said.index("−1 KiB") < said.index("400 B")


def test_the_largest_loss_is_first(tmp_path: Path) -> None:
    (tmp_path / "before.heap").write_text(GPERFTOOLS)
    profile = read_heap_profile(tmp_path / "before.heap")
    nothing = replace(profile, stacks=[])
    found = profile_difference(profile, nothing)
    said = "\n".join(shown(heap_profile_passages(found, Wrappers(), 1)))
    assert "−2 KiB" in said
    assert "−1 KiB" not in said
