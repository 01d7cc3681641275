"""What the faults of a fleet are judged by finds what was lost and doubled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fleet_faults.journals import Journals, Lost


def line(number: int, round_: int) -> str:
    return json.dumps(
        {
            "kind": "process",
            "number": number,
            "round": round_,
            "subject": "glibc",
            "status": "ok",
            "facts": {},
        }
    )


def write(folder: Path, *lines: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "samples.jsonl").write_text("".join(f"{text}\n" for text in lines))


SAMPLE = json.dumps({"kind": "sample", "subject": "glibc", "round": 0})
GOOD = (line(0, 0), SAMPLE, line(1, 1))


@pytest.fixture
def journals(tmp_path: Path) -> Journals:
    write(tmp_path / "machine/jobs/f1-one/store/runs/f1-one", *GOOD)
    return Journals({"one": tmp_path / "machine"})


def test_all_once_is_good(journals: Journals, tmp_path: Path) -> None:
    write(tmp_path / "store/runs/f1-one", *GOOD)
    assert journals.demand_all(tmp_path / "store", rounds=2) == 1


@pytest.mark.parametrize(
    ("stored", "rounds", "words"),
    [
        (GOOD[:2], 2, "not what its machine has"),
        (GOOD, 3, "lacks steps"),
    ],
)
def test_the_clients_store_must_have_all(
    journals: Journals, tmp_path: Path, stored: tuple[str, ...], rounds: int, words: str
) -> None:
    write(tmp_path / "store/runs/f1-one", *stored)
    with pytest.raises(Lost, match=words):
        journals.demand_all(tmp_path / "store", rounds)


@pytest.mark.parametrize(
    ("lines", "words"),
    [((*GOOD, line(1, 2)), "process twice"), ((*GOOD, line(2, 1)), "step twice")],
)
def test_nothing_may_be_there_twice(tmp_path: Path, lines: tuple[str, ...], words: str) -> None:
    write(tmp_path / "machine/jobs/f1-one/store/runs/f1-one", *lines)
    write(tmp_path / "store/runs/f1-one", *lines)
    with pytest.raises(Lost, match=words):
        Journals({"one": tmp_path / "machine"}).demand_all(tmp_path / "store", 2)


def test_a_machine_may_not_forget(journals: Journals, tmp_path: Path) -> None:
    journals.look()
    write(tmp_path / "machine/jobs/f1-one/store/runs/f1-one", *GOOD[1:])
    with pytest.raises(Lost, match="lost lines"):
        journals.look()
