"""Exports of a trace, read by the tools that they are for or by the rules of their formats."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heapwise.report.allocation_parts import call_tree
from heapwise.report.flame_tree import Node, embedded
from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.exports import EXPORTS
from heapwise.trace.names.call_stacks import CallStack, call_stacks, shared_out
from heapwise.trace.names.symbols import Place, Symbols

Record = Callable[..., Path]


def export(trace: Path, suffix: str) -> tuple[bytes, int, int]:
    """The content, and the blocks and bytes that it must have."""
    with open_trace(trace) as opened:
        found = read_contents(opened)
        stacks = call_stacks(opened, found, Symbols(opened.modules))
        return EXPORTS[suffix](opened, stacks), found.blocks, found.bytes


def test_speedscope_has_all_blocks_and_bytes(known: Path, record: Record) -> None:
    content, blocks, bytes_ = export(record(known, "threads", "40"), ".speedscope.json")
    document = json.loads(content)
    totals = {profile["name"]: sum(profile["weights"]) for profile in document["profiles"]}
    assert (totals["bytes"], totals["blocks"]) == (bytes_, blocks)
    assert 0 < totals["live bytes at the peak"] < bytes_
    assert totals["live bytes at the end"] <= totals["live bytes at the peak"]
    frames = document["shared"]["frames"]
    for profile in document["profiles"]:
        assert profile["endValue"] == sum(profile["weights"])
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= number < len(frames) for sample in profile["samples"] for number in sample)
    assert any(frame.get("file") == "known.cpp" for frame in frames)


def test_dhat_has_all_blocks_and_bytes(known: Path, record: Record) -> None:
    content, blocks, bytes_ = export(record(known, "threads", "40"), ".dhat.json")
    document = json.loads(content)
    assert document["dhatFileVersion"] == 2
    assert sum(point["tb"] for point in document["pps"]) == bytes_
    assert sum(point["tbk"] for point in document["pps"]) == blocks
    assert document["bklt"]
    assert all(
        point["gb"] <= point["mb"] <= point["tb"] and point["eb"] <= point["mb"]
        for point in document["pps"]
    )
    assert all(
        0 < number < len(document["ftbl"]) for point in document["pps"] for number in point["fs"]
    )


@pytest.mark.skipif(shutil.which("go") is None, reason="go tool pprof is not installed")
@pytest.mark.parametrize("kind", ["inuse_space", "peak_space"])
def test_pprof_reads_what_lived(known: Path, record: Record, tmp_path: Path, kind: str) -> None:
    trace = record(known, "threads", "40")
    (tmp_path / "known.pb.gz").write_bytes(export(trace, ".pb.gz")[0])
    with open_trace(trace) as opened:
        assert opened.summary is not None
        bytes_ = {
            "inuse_space": opened.summary.end_live_bytes,
            "peak_space": opened.summary.peak_live_bytes,
        }[kind]
    said = subprocess.run(
        [
            "go",
            "tool",
            "pprof",
            "-top",
            "-nodefraction=0",
            "-unit=B",
            f"-sample_index={kind}",
            str(tmp_path / "known.pb.gz"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert f"of {bytes_}B total" in said.stdout


def test_folded_stacks_have_all_bytes(known: Path, record: Record) -> None:
    content, _, bytes_ = export(record(known, "threads", "40"), ".folded")
    lines = [line.rsplit(" ", 1) for line in content.decode().splitlines()]
    assert sum(int(weight) for _, weight in lines) == bytes_
    assert any("churn(void*)" in names.split(";")[-1] for names, _ in lines)


@pytest.mark.skipif(shutil.which("go") is None, reason="go tool pprof is not installed")
def test_pprof_reads_the_profile(known: Path, record: Record, tmp_path: Path) -> None:
    content, blocks, _ = export(record(known, "threads", "40"), ".pb.gz")
    (tmp_path / "known.pb.gz").write_bytes(content)
    said = subprocess.run(
        [
            "go",
            "tool",
            "pprof",
            "-top",
            "-nodefraction=0",
            "-sample_index=alloc_objects",
            str(tmp_path / "known.pb.gz"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert f"of {blocks} total" in said.stdout
    assert re.search(r"^ +400 .*churn", said.stdout, re.MULTILINE)


def test_a_cut_trace_is_exported_as_far_as_it_is_whole(known: Path, record: Record) -> None:
    trace = record(known, "threads", "40")
    trace.write_bytes(trace.read_bytes()[:-100])
    for suffix in EXPORTS:
        assert export(trace, suffix)[0]


FEW_LARGE = """
#include <stdlib.h>
static void* kept[30000];
__attribute__((noinline)) void* get(size_t bytes) { void* made = malloc(bytes); return made; }
__attribute__((noinline)) void* small(void) { void* made = get(100); return made; }
__attribute__((noinline)) void* large(void) { void* made = get(1000000); return made; }
int main(void) {
  for (int i = 0; i < 30000; ++i) kept[i] = i % 1000 == 500 ? large() : small();
  return kept[0] == 0;
}
"""


def test_few_large_blocks_stand_under_their_own_stack(tmp_path: Path, record: Record) -> None:
    """Of 30,000 blocks of one call of malloc, 30 have nine tenths of the bytes; one in 256 of all
    blocks is a sample."""
    source, program = tmp_path / "few.c", tmp_path / "few"
    source.write_text(FEW_LARGE)
    subprocess.run(["cc", "-O1", "-g", str(source), "-o", str(program)], check=True)
    content, _, _ = export(record(program), ".folded")
    lines = content.decode().splitlines()
    sums = {
        name: sum(int(line.rsplit(" ", 1)[1]) for line in lines if f";{name};" in line)
        for name in ("large", "small")
    }
    assert sums["large"] == pytest.approx(30 * 1_000_000, rel=0.001)
    assert sums["small"] == pytest.approx(29_970 * 100, rel=0.01)


def test_shares_are_whole_and_sum_to_the_total() -> None:
    assert shared_out(10, [1, 1, 1]) == [3, 3, 4]
    assert shared_out(7, [0, 0]) == [3, 4]
    assert shared_out(5, [0, 9]) == [0, 5]


def test_a_call_tree_sums_what_lies_below() -> None:
    main, left, right = Place("a", 1, "main"), Place("a", 2, "left"), Place("a", 3, "right")
    tree = call_tree([CallStack((main, left), 2, 30), CallStack((main, right), 1, 12)])
    assert (tree.sums["b"], tree.sums["c"]) == (42, 3)
    below = tree.below["main"].below
    assert [(name, node.sums["b"]) for name, node in below.items()] == [("left", 30), ("right", 12)]


def plain(node: Node) -> dict[str, Any]:
    return {"n": node.name, **node.sums, "k": [plain(each) for each in node.below.values()]}


def test_a_call_tree_in_a_page_is_the_json_of_it() -> None:
    main, left, right = Place("a", 1, "main"), Place("a", 2, "l<e>ft"), Place("a", 3, "right")
    tree = call_tree(
        [CallStack((main, left), 2, 30), CallStack((main, right), 1, 12), CallStack((right,), 1, 1)]
    )
    assert json.loads(embedded(tree)) == plain(tree)
    assert "<" not in embedded(tree)


def test_stacks_deeper_than_python_recurses_are_exported(known: Path, record: Record) -> None:
    """The recorder keeps 48 frames, but a trace may hold more."""
    places = tuple(Place("a", number, f"f{number}") for number in range(5000))
    stacks = [
        CallStack(places[:depth], 2, 30, peak_blocks=2, peak_bytes=30, end_blocks=1, end_bytes=12)
        for depth in (5000, 2500)
    ]
    text = str(embedded(call_tree(stacks)))
    assert text.count('"n":') == 5001
    assert text.endswith("]}" * 5001)
    with open_trace(record(known, "threads", "2")) as opened:
        for exporter in EXPORTS.values():
            assert exporter(opened, stacks)
