"""Real gates on this machine: identical builds never fail, and a planted slow-down does.

`make test` has one gate of identical builds, `make test-long` 300 and 40 of a slower one.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from heapwise.analysis.gate import gate_result
from heapwise.cli.frame.tell.progress import NoProgress
from heapwise.evidence import Evidence
from heapwise.model import Build, GateResult
from heapwise.runner import CompareRequest, start
from heapwise.selftest.plants import neighbours
from heapwise.store import read_run
from heapwise.study.gate.ask import GateRequest, prepare_gate
from heapwise.trust import check_run

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("built_native")]

LONG = os.environ.get("HEAPWISE_TIER") == "long"
SAME_GATES = int(os.environ.get("HEAPWISE_GATES", "300" if LONG else "1"))
SLOWER_GATES = int(os.environ.get("HEAPWISE_SLOWER_GATES", "40" if LONG else "0"))
LIMIT = 0.05
REPEATED = 10_000
"""Is added to the seed of a gate that is made again."""

SHORT, LONGER = "100000", "500000"
"""Of the longer work the start of a process is a small part: what is planted is what is measured.
"""

SOURCE = Path(__file__).resolve().parents[2] / "data" / "gate_program.c"


def build(folder: Path, percent: int) -> str:
    path = folder / f"slower{percent}"
    if not path.exists():
        subprocess.run(["cc", "-O1", f"-DSLOW={percent}", "-o", str(path), str(SOURCE)], check=True)
    return str(path)


def gate(
    folder: Path,
    number: int,
    new: str,
    limits: dict[str, float],
    work: str = LONGER,
    time_s: float = 180.0,
) -> GateResult:
    builds = [
        Build(name, [program, work, "100"])
        for name, program in (("base", build(folder, 0)), ("new", new))
    ]
    prepared = prepare_gate(
        GateRequest(CompareRequest(builds=builds, time_s=time_s, seed=number), limits), os.environ
    )
    campaign = start(prepared, folder / "store", ["heapwise", "gate"], NoProgress())
    campaign.go()
    campaign.writer.close()
    evidence = Evidence(read_run(folder / "store", str(campaign.writer.folder)))
    found = gate_result(evidence, check_run(evidence))
    assert found is not None
    return found


def gate_beside_a_neighbour(folder: Path, number: int) -> GateResult:
    with neighbours(1):
        found = gate(
            folder,
            number,
            build(folder, 0),
            {"time": LIMIT, "peak_memory": LIMIT, "allocations": 0.0},
            SHORT,
            20.0,
        )
    if found.verdict == "regressed":
        print(number, *(row.sentence for row in found.rows), sep="\n  ")
    return found


def test_identical_builds_never_fail(tmp_path: Path) -> None:
    """Beside a neighbour that uses a processor all the time. One of few gates fails the test if it
    fails again: by chance one in many does, and what is wrong with a gate shows again."""
    verdicts = []
    for number in range(SAME_GATES):
        found = gate_beside_a_neighbour(tmp_path, number)
        if found.verdict == "regressed" and not LONG:
            found = gate_beside_a_neighbour(tmp_path, REPEATED + number)
        verdicts.append(found.verdict)
    print({word: verdicts.count(word) for word in set(verdicts)}, f"of {SAME_GATES} gates")
    assert "regressed" not in verdicts


@pytest.mark.skipif(not SLOWER_GATES, reason="one of 20 may be missed: it takes many")
def test_a_slow_down_of_the_limit_and_twice_the_noise_fails(tmp_path: Path) -> None:
    """The noise is that of a gate of identical builds before it."""
    failed = 0
    for number in range(SLOWER_GATES):
        [row] = gate(tmp_path, number, build(tmp_path, 0), {"time": LIMIT}).rows
        planted = LIMIT + 2 * (row.noise or 0.0)
        percent = round(100 * planted) + 1  # a part of each run is not a loop, so it is not slower
        found = gate(tmp_path, number, build(tmp_path, percent), {"time": LIMIT})
        failed += found.verdict == "regressed"
        print(f"{percent} % planted:", *(row.sentence for row in found.rows))
    assert failed >= 0.95 * SLOWER_GATES
