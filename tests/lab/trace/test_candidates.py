"""Which call sites could have a pool, and what a replay with the pool does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from heapwise.trace import open_trace
from heapwise.trace.candidates import find_candidates
from heapwise.trace.contents import read_contents
from heapwise.trace.symbols import Symbols

Record = Callable[..., Path]
Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_site_of_one_size_is_a_candidate_and_one_of_many_sizes_is_not(
        known: Path, record: Record) -> None:
    with open_trace(record(known, "nodes", "20000")) as opened:
        [candidate], refused = find_candidates(opened, read_contents(opened))
        symbols = Symbols(opened.modules.maps)
        address = opened.site_address(candidate.site)
        assert address is not None
        assert "make_node" in symbols.place(address).function
    assert (candidate.block_size, candidate.policy) == (48, "unsynchronized")
    assert [other.reason.partition(",")[0] for other in refused] == ["its blocks have many sizes"]


def test_blocks_of_several_threads_need_a_pool_for_threads(known: Path, record: Record) -> None:
    with open_trace(record(known, "same_size", "300")) as opened:
        candidates, _ = find_candidates(opened, read_contents(opened))
    assert [(c.block_size, c.policy) for c in candidates] == [(40, "thread_cached")]


def test_blocks_that_are_resized_cannot_have_a_pool(known: Path, record: Record) -> None:
    with open_trace(record(known, "grow", "5000")) as opened:
        candidates, refused = find_candidates(opened, read_contents(opened))
    assert not candidates
    assert "its blocks are resized" in [other.reason for other in refused]


def test_advise_measures_the_candidate_and_names_its_line(
        known: Path, record: Record, heapwise: Heapwise) -> None:
    trace = record(known, "nodes", "60000")
    done = heapwise("advise", str(trace), "--rounds", "3", "--json")
    assert done.returncode in (0, 4), done.stderr
    result = json.loads(done.stdout)
    [candidate] = result["run"]["plan"]["options"]["replay"]["candidates"]
    assert "make_node" in candidate["place"]
    rows = {row["subject"]: row for row in result["rows"]
            if row["parameters"]["quantity"] == "peak_memory"}
    assert rows["candidate_1"]["median"] > 0
    assert result["advice"].startswith(("1 of 1 call sites", "Cannot tell yet", "Nothing to gain"))
    assert any("make_node" in line for line in result["headlines"])
    assert any("many sizes" in line and line.endswith("cannot have a pool")
               for line in result["headlines"])


def test_without_a_candidate_it_says_why(
        known: Path, record: Record, heapwise: Heapwise) -> None:
    done = heapwise("advise", str(record(known, "grow", "5000")))
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "no call site could have a pool" in said
    assert "its blocks are resized" in said
