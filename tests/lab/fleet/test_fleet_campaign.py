"""Many simulated machines through the real scheduler, with stubs that store a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from simulated_fleet import job_in, simulate

from heapwise.fleet.fleet_file import MachineState, find_fleet, reopened
from heapwise.fleet.job import JobOutcome
from heapwise.model.by_machine import ByMachine, MachineRow
from heapwise.report.fleet_page import fleet_page

BROKEN = "m7"


def stub(content: bytes) -> bytes:
    job = job_in(content)
    if job.machine == BROKEN:
        return msgspec.msgpack.encode(JobOutcome(job.machine, "incomplete", 3, "the disk is full"))
    files = {"run.json": b"{}", "samples.jsonl": f"{job.machine}\n".encode()}
    return msgspec.msgpack.encode(JobOutcome(job.machine, "complete", 0, "", files))


@pytest.fixture
def quiet_log() -> Iterator[None]:
    import logging

    level = logging.getLogger("distributed").level
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("distributed").setLevel(level)


@pytest.mark.usefixtures("quiet_log")
@pytest.mark.parametrize(
    "count",
    [10, pytest.param(50, marks=pytest.mark.long), pytest.param(1000, marks=pytest.mark.slow)],
)
def test_every_machine_is_collected_and_the_broken_one_is_named(tmp_path: Path, count: int) -> None:
    _, fleet, _ = simulate(tmp_path, count, stub)
    states = fleet.machines
    assert states.pop(BROKEN) == MachineState("failed", 4, "the disk is full")
    assert {state.state for state in states.values()} == {"complete"}
    assert {state.attempts for state in states.values()} == {1}
    for name in states:
        samples = tmp_path / "runs" / f"f1-{name}" / "samples.jsonl"
        assert samples.read_text() == f"{name}\n"
    assert len(list((tmp_path / "runs").iterdir())) == count - 1
    again = reopened(find_fleet(tmp_path, "last")).read()
    assert again.machines[BROKEN].state == "waiting"


def test_the_page_of_1000_machines_has_a_row_for_each() -> None:
    rows = [
        MachineRow(f"m{n}", "h", "k", "cpu", 2, "Linux", "glibc", 0.9, 0.8, 1.0, "better", "good")
        for n in range(1000)
    ]
    page = fleet_page(
        "f1", "heapwise <b>", [ByMachine("a", "time", "", rows, 1000, 0)], [("m<i>", "no <room>")]
    )
    assert page.count('<th scope="row">') == 1000
    assert "better on 1000 of 1000 machines" in page
    assert "<room>" not in page
