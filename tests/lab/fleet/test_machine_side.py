"""What a machine does with a job, without an engine."""

from __future__ import annotations

import errno
import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heapwise.catalog import RECORD, AddedPeer, find_peers, read_declarations
from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.fleet.host_lock import HostLock
from heapwise.fleet.job import (
    LARGEST_BYTES,
    Job,
    SentPeer,
    ShippedFile,
    decode_outcome,
    encode_job,
)
from heapwise.fleet.machine_side import measure, measuring_environment
from heapwise.fleet.sent_peers import added_peers, kind_of_programs
from heapwise.fleet.shipped import Parcel, receive
from heapwise.store import read_run
from heapwise.trust.judge import check_run

TRAPS = {
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""What Dask's nanny sets: distributed.yaml, pre-spawn-environ."""


BUILT = "jemalloc-current"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEAPWISE_FLEET_LOCK", str(tmp_path / "lock"))
    return tmp_path / "machine"


def job(machine: Path, *words: str, files: list[ShippedFile] | None = None) -> Job:
    environment = {"PATH": "/usr/bin:/bin", "XDG_DATA_HOME": str(machine.parent / "data")}
    return Job(
        "f1",
        "a",
        list(words),
        environment,
        environment,
        str(machine.parent),
        files or [],
        str(machine),
    )


COMPARE = ("compare", "--rounds", "3", "--allocators", "glibc,heapwise", "--", "/bin/true")


def test_the_workers_variables_do_not_reach_the_measuring_process(tmp_path: Path) -> None:
    found = measuring_environment(
        {"A": "1", "HEAPWISE_STORE": "x"}, TRAPS | {"B": "2", "HEAPWISE_NATIVE": "/n"}, tmp_path
    )
    assert found == {"A": "1", "HEAPWISE_NATIVE": "/n", "HEAPWISE_FLEET_ORIGIN": str(tmp_path)}


def test_a_job_that_runs_twice_measures_once(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in TRAPS.items():
        monkeypatch.setenv(name, value)
    first = decode_outcome(measure(encode_job(job(machine, *COMPARE))))
    assert first.state == "complete", first.message
    again = decode_outcome(measure(encode_job(job(machine, *COMPARE))))
    assert again.files == first.files
    plan = msgspec.json.decode(first.files["run.json"])["plan"]
    assert not TRAPS.keys() & plan["environment"].keys()
    assert plan["options"]["fleet"]["machine"] == "a"


@pytest.mark.parametrize(
    ("options", "arrives"),
    [
        ((), "OMP_NUM_THREADS"),
        (("--keep-env",), "MALLOC_TRIM_THRESHOLD_"),  # else it is left out like any allocator's
    ],
)
def test_a_variable_that_reaches_the_measuring_process_fails_v20(
    machine: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], arrives: str
) -> None:
    """The nanny's traps, planted where nothing holds them back."""

    def leaky(*parts: Any) -> dict[str, str]:
        return measuring_environment(*parts) | TRAPS

    monkeypatch.setattr("heapwise.fleet.machine_side.measuring_environment", leaky)
    words = (COMPARE[0], *options, *COMPARE[1:])
    done = decode_outcome(measure(encode_job(job(machine, *words))))
    assert done.state == "complete", done.message
    stored = read_run(machine / "jobs/f1-a/store", "f1-a")
    check = next(c for c in check_run(Evidence(stored)).checks if c.id == "V20")
    assert check.verdict == "fail"
    assert arrives in check.detail


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[SentPeer]:
    """A peer that the client has added; the machine has another data folder, without it."""
    declared = next(peer for peer in read_declarations() if peer.name == BUILT)
    assert declared.declaration.build is not None
    version = declared.declaration.build.version
    folder = tmp_path / "client/heapwise/peers" / BUILT / version
    folder.mkdir(parents=True)
    library = library_of_the_system()
    shutil.copyfile(library, folder / library.name)
    record = AddedPeer(version, library.name, "", "", "", "", "2026-01-01")
    (folder / RECORD).write_bytes(msgspec.json.encode(record))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "client"))
    found = added_peers()
    shutil.rmtree(tmp_path / "client")
    return found


def library_of_the_system() -> Path:
    return next(Path(p.path) for p in find_peers() if p.name == "jemalloc" and p.path)


WITH_ADDED = (*COMPARE[:4], f"glibc,{BUILT}", "--", "/bin/true")


def test_a_peer_that_the_client_built_is_sent_by_hash(
    machine: Path, added: list[SentPeer], tmp_path: Path
) -> None:
    assert [peer.name for peer in added] == [BUILT]
    contents = {file.sha256: file for file in added[0].files.values()}
    asking = msgspec.structs.replace(
        job(machine, *WITH_ADDED), peers=added, kind=kind_of_programs()
    )
    asked = decode_outcome(measure(encode_job(asking)))
    assert (asked.state, set(asked.missing)) == ("waiting", set(contents))
    library = library_of_the_system()
    for sha256, file in contents.items():
        content = library.read_bytes() if file.path.endswith(library.name) else record_of(added[0])
        assert hashlib.sha256(content).hexdigest() == sha256
        assert receive(msgspec.msgpack.encode(Parcel(str(machine), file, content))) == b""
    outcome = decode_outcome(measure(encode_job(asking)))
    assert outcome.state == "complete", outcome.message
    stored = read_run(machine / "jobs/f1-a/store", "f1-a")
    subject = next(s for s in stored.run.plan.subjects if s.name == BUILT)
    assert subject.peer is not None
    assert subject.peer.path.startswith(str(machine / "peers"))
    assert {p.status for p in stored.processes} == {"ok"}


def test_a_peer_is_not_sent_to_a_machine_of_another_kind(
    machine: Path, added: list[SentPeer]
) -> None:
    asking = msgspec.structs.replace(job(machine, *WITH_ADDED), peers=added, kind="s390x glibc 2.1")
    outcome = decode_outcome(measure(encode_job(asking)))
    assert outcome.missing == []
    assert outcome.state == "incomplete"
    assert BUILT in outcome.message


def record_of(peer: SentPeer) -> bytes:
    return msgspec.json.encode(
        AddedPeer(
            peer.version,
            next(name for name in peer.files if name != RECORD),
            "",
            "",
            "",
            "",
            "2026-01-01",
        )
    )


def test_a_plan_that_fails_says_why(machine: Path) -> None:
    outcome = decode_outcome(measure(encode_job(job(machine, "compare", "--", "/no/such"))))
    assert outcome.state == "incomplete"
    assert "E010" in outcome.message


def test_a_program_is_sent_by_hash_or_must_be_there(machine: Path, tmp_path: Path) -> None:
    script = b"#!/bin/sh\nexit 0\n"
    there = "/nowhere/program"
    sent = ShippedFile(there, there, hashlib.sha256(script).hexdigest(), True, len(script))
    words = (*COMPARE[:-1], there)
    asked = decode_outcome(measure(encode_job(job(machine, *words, files=[sent]))))
    assert (asked.state, asked.missing) == ("waiting", [sent.sha256])
    assert receive(msgspec.msgpack.encode(Parcel(str(machine), sent, script))) == b""
    outcome = decode_outcome(measure(encode_job(job(machine, *words, files=[sent]))))
    assert outcome.state == "complete", outcome.message
    command = msgspec.json.decode(outcome.files["run.json"])["plan"]["command"][0]
    assert sent.sha256 in command
    unsent = ShippedFile(there, there, "0" * 64, True, LARGEST_BYTES + 1)
    missing = decode_outcome(
        measure(
            encode_job(msgspec.structs.replace(job(machine, *words, files=[unsent]), fleet="f2"))
        )
    )
    assert missing.state == "failed"
    assert missing.message.startswith("E010")


@pytest.mark.parametrize("torn", [b"", b'{"id": "f1-a", "sta', b"[]", b'"complete"'])
def test_a_torn_document_is_mended_from_its_copy(machine: Path, torn: bytes) -> None:
    first = decode_outcome(measure(encode_job(job(machine, *COMPARE))))
    document = machine / "jobs/f1-a/store/runs/f1-a/run.json"
    document.write_bytes(torn)
    again = decode_outcome(measure(encode_job(job(machine, *COMPARE))))
    assert again.state == "complete", again.message
    assert again.files["samples.jsonl"] == first.files["samples.jsonl"]


def test_without_a_copy_the_plan_begins_again_and_nothing_is_lost(machine: Path) -> None:
    first = decode_outcome(measure(encode_job(job(machine, *COMPARE))))
    (machine / "jobs/f1-a/store/runs/f1-a/run.json").write_bytes(b"")
    (machine / "jobs/f1-a/run.json").unlink()
    again = decode_outcome(measure(encode_job(job(machine, *COMPARE))))
    assert again.state == "complete", again.message
    assert again.files["torn/0/samples.jsonl"] == first.files["samples.jsonl"]


def test_a_failure_hands_the_journal_back(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = decode_outcome(measure(encode_job(job(machine, *COMPARE))))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "origin.json")

    (machine / "jobs/f1-a/store/runs/f1-a/run.json").write_bytes(
        first.files["run.json"].replace(b'"complete"', b'"interrupted"')
    )
    monkeypatch.setattr("heapwise.fleet.machine_side._write_if_other", full)
    again = decode_outcome(measure(encode_job(job(machine, *COMPARE))))
    assert again.state == "failed"
    assert "No space left" in again.message
    assert again.files["samples.jsonl"] == first.files["samples.jsonl"]


def test_one_plan_at_a_time(tmp_path: Path) -> None:
    first, second = HostLock(tmp_path / "lock"), HostLock(tmp_path / "lock")
    first.acquire(0, lambda: None)
    waited: list[int] = []
    with pytest.raises(Problem) as refused:
        second.acquire(0.3, lambda: waited.append(1))
    assert refused.value.id == "E006"
    assert waited
    first.close()
    second.acquire(0, lambda: None)
    second.close()
