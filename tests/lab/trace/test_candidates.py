"""Which call sites could have a pool, and what a replay with the pool does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heapwise.analysis.summary.pool_code import pool_code
from heapwise.model import PoolCandidate
from heapwise.trace import open_trace
from heapwise.trace.candidates import find_candidates
from heapwise.trace.contents import read_contents
from heapwise.trace.file import FrameKind
from heapwise.trace.names.symbols import Symbols
from heapwise.trace.phases import Phases, grouped

ROOT = Path(__file__).resolve().parents[3]
PLANTED = ROOT / "tests" / "data" / "planted_sites"

Record = Callable[..., Path]
Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_site_of_one_size_gets_a_pool_and_one_of_many_sizes_several(
    known: Path, record: Record
) -> None:
    with open_trace(record(known, "nodes", "20000")) as opened:
        [candidate, texts], _ = find_candidates(opened, read_contents(opened))
        symbols = Symbols(opened.modules)
        address = opened.site_address(candidate.sites[0])
        assert address is not None
        assert "make_node" in symbols.place(address).function
    assert (candidate.block_size, candidate.policy) == (48, "unsynchronized")
    assert texts.policy == "sized"


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
    known: Path, record: Record, heapwise: Heapwise
) -> None:
    trace = record(known, "nodes", "60000")
    done = heapwise("advise", str(trace), "--rounds", "3", "--json")
    assert done.returncode in (0, 4), done.stderr
    result = json.loads(done.stdout)
    replay = result["run"]["plan"]["options"]["replay"]
    assert replay["quantity"] == "processor_time"
    assert "make_node" in replay["candidates"][0]["place"]
    rows = {
        row["subject"]: row
        for row in result["rows"]
        if row["parameters"]["quantity"] == "peak_memory"
    }
    assert rows["candidate_1"]["median"] > 0
    assert result["advice"].startswith(
        ("1 of 2 candidates", "2 of 2 candidates", "Cannot tell yet", "Nothing to gain")
    )
    assert any("make_node" in line for line in result["headlines"])


def test_without_a_candidate_it_says_why(known: Path, record: Record, heapwise: Heapwise) -> None:
    done = heapwise("advise", str(record(known, "grow", "5000")))
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert said.startswith("Advice Nothing to gain: no call site could have a pool or an arena.")
    assert "its blocks are resized" in said


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A program of tests/data/planted_sites, without its pool."""
    folder = tmp_path_factory.mktemp("planted")

    def build(name: str) -> Path:
        program = folder / name
        subprocess.run(
            [
                "c++",
                "-O2",
                "-g",
                "-std=c++20",
                "-pthread",
                str(PLANTED / f"{name}.cpp"),
                "-o",
                str(program),
            ],
            check=True,
        )
        return program

    return build


def test_sites_whose_blocks_end_together_share_an_arena(
    planted: Callable[[str], Path], record: Record
) -> None:
    with open_trace(record(planted("parser"), "30000")) as opened:
        first, *others = find_candidates(opened, read_contents(opened))[0]
    assert (first.policy, len(first.sites)) == ("arena", 4)
    assert {other.policy for other in others} == {"unsynchronized"}


def test_blocks_of_many_sizes_that_end_together_get_an_arena(
    planted: Callable[[str], Path], record: Record, heapwise: Heapwise
) -> None:
    trace = record(planted("requests"), "60000")
    with open_trace(trace) as opened:
        assert [c.policy for c in find_candidates(opened, read_contents(opened))[0]] == ["arena"]
    done = heapwise("advise", str(trace), "--rounds", "2", "--json")
    assert done.returncode in (0, 4), done.stderr
    result = json.loads(done.stdout)
    [played] = [check for check in result["trust"]["checks"] if check["id"] == "V24"]
    assert played["verdict"] == "pass"
    assert any("an arena" in line for line in result["headlines"])


def test_phases_that_do_not_end_get_no_arena() -> None:
    phases = Phases({1}, blocks=1000, largest_bytes=10_000_000, peak_bytes=1000)
    assert not phases.fits_an_arena


def test_sites_are_grouped_by_the_ends_of_their_phases() -> None:
    ends = {1: [10, 20, 30, 40], 2: [9, 19, 29, 39], 3: [15, 16, 17, 40], 4: [40]}
    found = {
        site: Phases({site}, blocks=100 - site, ends=[np.array(places, np.int64)])
        for site, places in ends.items()
    }
    assert grouped(found) == [[1, 2], [3], [4]]


@pytest.mark.parametrize("policy", ["unsynchronized", "thread_cached", "sized", "arena"])
def test_the_printed_code_compiles(policy: str, tmp_path: Path) -> None:
    source = tmp_path / "printed.cpp"
    lines = pool_code(PoolCandidate("candidate_1", "main", 240, 1000, policy, ""))
    calls = "\n".join(lines)
    usual = lines[-1].removeprefix("// ").replace("...", "").partition("//")[0]
    assert usual.count(";") >= 2
    source.write_text(calls + f"\nvoid use(std::size_t bytes) {{ (void)bytes; {usual} }}\n")
    subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", str(source)], check=True
    )


def test_a_window_is_played_with_the_blocks_that_live_at_its_begin(
    known: Path, record: Record, heapwise: Heapwise
) -> None:
    trace = record(known, "nodes", "3000000", most_bytes=1 << 20)
    with open_trace(trace) as opened:
        windows = sorted(
            {frame.window for frame in opened.frames if frame.kind is FrameKind.EVENTS}
        )
    assert len(windows) > 1
    done = heapwise(
        "replay",
        str(trace),
        "--rounds",
        "1",
        "--allocators",
        "heapwise",
        "--window",
        str(windows[-1]),
        "--json",
    )
    assert done.returncode in (0, 4), done.stderr
    result = json.loads(done.stdout)
    replay = result["run"]["plan"]["options"]["replay"]
    assert replay["window"] == windows[-1]
    assert replay["prepared"] > 0
    [played] = [check for check in result["trust"]["checks"] if check["id"] == "V24"]
    assert (played["verdict"], "live where it begins" in played["detail"]) == ("pass", True)
    done = heapwise("replay", str(trace), "--window", "99999")
    assert done.returncode == 2
    assert "has no window 99999" in " ".join(done.stderr.split())
