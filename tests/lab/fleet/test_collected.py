"""Samples in the client's store are only ever added to."""

from __future__ import annotations

import errno
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.fleet.collected import keep, mend


def copy(lines: int, state: str = "running") -> dict[str, bytes]:
    return {
        "run.json": b'{"id": "f1-a", "state": "%s", "plan": {}}' % state.encode(),
        "samples.jsonl": b"".join(b"line %d\n" % n for n in range(lines)),
    }


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


def test_a_client_that_dies_between_two_renames_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, "f1-a", copy(3))
    with monkeypatch.context() as dying:
        dying.setattr(Path, "replace", _dies_at(2, Path.replace))
        with pytest.raises(Died):
            keep(tmp_path, "f1-a", copy(5, "complete"))
    assert not (tmp_path / "runs/f1-a").exists()
    assert mend(tmp_path, "f1") == ["f1-a"]
    assert samples(tmp_path).count(b"\n") == 3
    assert keep(tmp_path, "f1-a", copy(5, "complete"))
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["f1-a"]


@pytest.mark.parametrize("torn", [b"", b'{"id": "f1-a", "sta'])
def test_a_torn_document_does_not_replace_a_whole_one(tmp_path: Path, torn: bytes) -> None:
    keep(tmp_path, "f1-a", copy(3))
    assert keep(tmp_path, "f1-a", copy(5) | {"run.json": torn})
    assert (tmp_path / "runs/f1-a/run.json").read_bytes() == copy(3)["run.json"]
    assert samples(tmp_path).count(b"\n") == 5


def test_a_full_disk_of_the_client_is_named_and_the_old_copy_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, "f1-a", copy(3))

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "write_bytes", full)
        with pytest.raises(Problem) as refused:
            keep(tmp_path, "f1-a", copy(5))
    assert refused.value.id == "E051"
    assert str(tmp_path / "runs") in refused.value.what
    assert samples(tmp_path).count(b"\n") == 3
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["f1-a"]


class Died(BaseException):
    """What a kill is to the client: nothing is tidied up after it."""


def _dies_at(call: int, real: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
    calls = count(1)

    def replace(path: Path, target: Path) -> Path:
        if next(calls) == call:
            raise Died
        return real(path, target)

    return replace
