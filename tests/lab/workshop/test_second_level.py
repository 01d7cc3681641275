"""The table of the heap's second level: what is counted is what a malloc did, and ratios above 1
say that ours is better."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from synthetic_heap import Heap, heap_run

from heapwise.catalog.peers import find_peers
from heapwise.evidence import Evidence
from heapwise.machine.processor import model
from heapwise.model import Peer, Trust
from workshop import second_level as second_level_module
from workshop.second_level import (
    COUNTED,
    Counted,
    build,
    costs,
    counted_row,
    second_level,
    second_level_page,
)

PEERS = [peer for peer in find_peers({"glibc", "heapwise"}) if peer.path is not None]
FREES = Counted("frees", "instructions", ("free", "64", "2000", "ordered"))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("counted"))


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind counts the instructions")
def test_instructions_are_those_of_the_frees_alone(program: Path) -> None:
    few = costs(program, FREES, PEERS, 1)
    many = Counted("frees", "instructions", ("free", "64", "4000", "ordered"))
    more = costs(program, many, PEERS, 1)
    assert few.keys() == {"glibc", "heapwise"}
    for name, count in few.items():
        assert 5 < count < 500
        assert more[name] == pytest.approx(count, rel=0.3)


def test_processor_time_of_used_zeros_grows_with_the_bytes(program: Path) -> None:
    small, large = (
        Counted("calloc", "processor time", ("calloc", str(mib << 20), "20")) for mib in (1, 8)
    )
    found = costs(program, small, PEERS, 3), costs(program, large, PEERS, 3)
    for peer in PEERS:
        assert found[1][peer.name] > 3 * found[0][peer.name]


@pytest.mark.parametrize(("by", "counts"), [("processor time", 5.0), ("KiB", 7.0), ("pages", 9.0)])
def test_costs_that_vary_are_taken_in_turns(
    by: str, counts: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    values = iter([9.0, 5.0, 7.0])
    monkeypatch.setattr(second_level_module, "_cost", lambda *_: next(values))
    row = Counted("row", by, ("threads", "0", "silent"), rival="other")
    other = Peer("other", "other", "preload", "/nowhere.so", "1", "", "", "MIT")
    assert costs(tmp_path, row, [other], 3) == {"other": counts}


def test_a_rival_that_is_named_is_the_only_one(program: Path) -> None:
    row = Counted("nothing", "KiB", ("threads", "0", "silent"), rival="glibc")
    other = Peer("other", "other", "preload", "/nowhere.so", "1", "", "", "MIT")
    found = costs(program, row, [*PEERS, other], 1)
    assert found.keys() == {"glibc", "heapwise"}
    assert all(500 < kib < 20_000 for kib in found.values())


def test_a_stored_run_gives_the_rows_of_its_experiments_beside_the_best_peer() -> None:
    run = heap_run(Heap(speed={**Heap().speed, "malloc@heapwise": 1.5}))
    lines = second_level([(Evidence(run), Trust("good", []))], turns=0)
    assert lines[0].startswith(f"Processor: {model()}")
    rows = [line.split(" | ") for line in lines if "throughput" in line]
    assert len(rows) == 4  # alignment64 with 1, 2 and 16 threads, rl_medium with one
    for row in rows:
        assert row[3] == "best peer (malloc@mimalloc)"
        assert row[2].startswith("0.9")
        assert row[5].startswith("not met")


def test_the_page_says_how_to_read_the_table_and_what_it_is_beside() -> None:
    page = second_level_page(["| row | by |", "Not measured: trees"], PEERS)
    assert page.startswith("<!-- Made by `python -m workshop second-level --page FILE`;")
    assert "Allocators: glibc" in page
    assert page.endswith("| row | by |\nNot measured: trees\n")


def test_a_lower_cost_is_a_ratio_above_one() -> None:
    row = Counted("row", "instructions", ("free",), aim=1.0)
    won = counted_row(row, {"heapwise": 20.0, "glibc": 60.0, "snmalloc": 30.0})
    assert won[2:] == ["1.50x (20, snmalloc 30)", "snmalloc", "at least 1.00x", "met"]
    lost = counted_row(row, {"heapwise": 20.0, "glibc": 10.0})
    assert (lost[2], lost[-1]) == ("0.50x (20, glibc 10)", "not met")
    assert counted_row(row, {"heapwise": 20.0})[-1] == "not measured"


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: row.says)
def test_every_row_is_work_that_the_program_knows(program: Path, row: Counted) -> None:
    words = [word if not word.isdigit() else str(min(int(word), 4)) for word in row.words]
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    processor_ns, faults, kib = map(int, done.stdout.split())
    assert processor_ns >= 0
    assert faults >= 0
    assert kib > 100


def test_unknown_work_is_refused(program: Path) -> None:
    done = subprocess.run([program, "play", "1", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "unknown work" in done.stderr


@pytest.mark.parametrize(
    ("row", "ours", "says", "verdict"),
    [
        (Counted("memory", "KiB", (), aim=0.5), 200.0, "at least 0.50x", "met"),
        (Counted("memory", "KiB", (), aim=0.5), 201.0, "at least 0.50x", "not met"),
        (Counted("memory", "KiB", (), most=600), 600.0, "at most 600 KiB", "met"),
        (Counted("memory", "KiB", (), most=600), 601.0, "at most 600 KiB", "not met"),
        (Counted("memory", "KiB", (), above=50), 150.0, "at most 50 KiB more", "met"),
        (Counted("memory", "KiB", (), above=50), 151.0, "at most 50 KiB more", "not met"),
    ],
)
def test_the_aim_of_a_counted_row_is_a_ratio_a_cost_or_a_distance(
    row: Counted, ours: float, says: str, verdict: str
) -> None:
    assert counted_row(row, {"heapwise": ours, "other": 100.0})[-2:] == [says, verdict]
