"""A program goes once to each host that lacks it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heapwise.errors import Problem
from heapwise.fleet.job import Job, ShippedFile
from heapwise.fleet.transfers import FileTransfers, Task


class Sent:
    """A future of the engine that has ended, or is cancelled before."""

    def __init__(self, answer: Callable[[], bytes] | None) -> None:
        self.status = "pending" if answer is None else "finished"
        self.answer = answer

    def done(self) -> bool:
        return self.status != "pending"

    def result(self) -> bytes:
        assert self.answer is not None
        return self.answer()

    def cancel(self) -> None:
        self.status = "cancelled"


@pytest.fixture
def program(tmp_path: Path) -> ShippedFile:
    path = tmp_path / "program"
    path.write_bytes(b"#!/bin/sh\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return ShippedFile(str(path), str(path), digest, True, path.stat().st_size)


def job(machine: str, file: ShippedFile, folder: Path) -> Job:
    return Job("f1", machine, ["compare"], {}, {}, "/", [file], str(folder))


def test_two_machines_of_a_host_get_one_copy(tmp_path: Path, program: ShippedFile) -> None:
    sent: list[str] = []

    def submit(task: Task, content: bytes, address: str) -> Any:
        sent.append(address)
        return Sent(lambda: task(content))

    transfers = FileTransfers(submit)
    other = tmp_path / "other"
    Path(program.path).rename(tmp_path / "moved")  # the host does not have it under its own path
    moved = ShippedFile(program.word, str(tmp_path / "moved"), program.sha256, True, program.size)
    for name in ("a", "b"):
        transfers.bring(job(name, moved, other), "host", [program.sha256], f"tcp://{name}")
    assert len(transfers) == 2
    assert transfers.arrived({"tcp://a", "tcp://b"}) == {"a": "", "b": ""}
    assert sent == ["tcp://a"]
    transfers.bring(job("c", moved, other), "host 2", [program.sha256], "tcp://c")
    assert transfers.arrived({"tcp://c"}) == {"c": ""}
    assert sent == ["tcp://a", "tcp://c"]
    transfers.bring(job("c", moved, other), "host 2", [program.sha256], "tcp://c")
    assert sent == ["tcp://a", "tcp://c", "tcp://c"]  # it came, and is gone again


def test_a_job_on_its_way_to_a_lost_worker_is_reported_and_sent_again(
    tmp_path: Path, program: ShippedFile
) -> None:
    transfers = FileTransfers(lambda task, content, address: Sent(None))
    transfers.bring(job("a", program, tmp_path), "host", [program.sha256], "tcp://a")
    assert transfers.arrived({"tcp://a"}) == {}
    found = transfers.arrived(set())
    assert found == {"a": "a file was not brought: the engine said cancelled"}
    transfers.bring(job("a", program, tmp_path), "host", [program.sha256], "tcp://new")
    assert transfers.arrived({"tcp://new"}) == {}


def test_a_program_that_changed_since_is_not_sent(tmp_path: Path, program: ShippedFile) -> None:
    Path(program.path).write_bytes(b"other")
    transfers = FileTransfers(lambda task, content, address: Sent(None))
    with pytest.raises(Problem) as refused:
        transfers.bring(job("a", program, tmp_path), "host", [program.sha256], "tcp://a")
    assert refused.value.id == "E056"
