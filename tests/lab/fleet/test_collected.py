"""Samples in the client's store are only ever added to."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.fleet.collected import keep


def copy(lines: int, state: str = "running") -> dict[str, bytes]:
    return {"run.json": state.encode(),
            "samples.jsonl": b"".join(b"line %d\n" % n for n in range(lines))}


def samples(store: Path) -> bytes:
    return (store / "runs" / "f1-a" / "samples.jsonl").read_bytes()


def test_a_copy_that_comes_twice_changes_nothing(tmp_path: Path) -> None:
    assert keep(tmp_path, "f1-a", copy(3))
    assert not keep(tmp_path, "f1-a", copy(3))
    assert samples(tmp_path).count(b"\n") == 3


def test_a_longer_copy_replaces_and_a_shorter_one_does_not(tmp_path: Path) -> None:
    keep(tmp_path, "f1-a", copy(3))
    assert keep(tmp_path, "f1-a", copy(5, "complete"))
    assert not keep(tmp_path, "f1-a", copy(4))
    assert samples(tmp_path).count(b"\n") == 5


def test_other_samples_under_the_same_name_are_refused(tmp_path: Path) -> None:
    keep(tmp_path, "f1-a", copy(3))
    with pytest.raises(Problem) as refused:
        keep(tmp_path, "f1-a", {"run.json": b"", "samples.jsonl": b"other\n"})
    assert refused.value.id == "E061"
    assert samples(tmp_path).count(b"\n") == 3


def test_a_file_outside_of_the_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem):
        keep(tmp_path, "f1-a", copy(1) | {"../../../evil": b""})
    assert not (tmp_path / "evil").exists()
