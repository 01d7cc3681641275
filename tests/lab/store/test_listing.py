"""A store is listed from its index, and exactly as without one."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.machine import read_machine
from heapwise.model import Experiment, Plan, Quantity, Run, SubjectSpec
from heapwise.store import Listing, RunWriter, list_runs, listing, read_run, resolve_run
from heapwise.store.index import INDEX_FILE

RUNS = 40
"""Enough for an index."""


def a_run(number: int) -> Run:
    plan = Plan("run", ["./prog", f"--seed={number}"], ["e"], {}, [], 1, 1, 1, 0.0, 0.0, 0, 0.0)
    experiment = Experiment(
        1,
        "e",
        "e",
        "?",
        "",
        "",
        [],
        [Quantity("pair", "s", "lower")],
        [SubjectSpec("s", "inline", "s")],
        "s",
        1,
        0,
    )
    return Run(
        1,
        f"{number:04x}",
        "0.1.0",
        f"2026-01-{number % 28 + 1:02}",
        ["heapwise", "run"],
        plan,
        MACHINE,
        [experiment],
        "running",
    )


MACHINE = read_machine()


@pytest.fixture(scope="module")
def stored_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("made")
    for number in range(RUNS):
        RunWriter.create(store, a_run(number)).close()
    return store


@pytest.fixture
def store(stored_runs: Path, tmp_path: Path) -> Path:
    """Without an index yet."""
    return shutil.copytree(stored_runs, tmp_path / "store")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders whose ``run.json`` is read."""
    folders: list[Path] = []
    real = listing.read_run_file

    def counting(folder: Path) -> Run:
        folders.append(folder)
        return real(folder)

    monkeypatch.setattr(listing, "read_run_file", counting)
    return folders


def without_index(store: Path) -> list[Listing]:
    (store / INDEX_FILE).unlink(missing_ok=True)
    return list_runs(store)


def test_the_second_listing_opens_no_run(store: Path, opened: list[Path]) -> None:
    first = list_runs(store)
    assert len(opened) == RUNS
    opened.clear()
    assert list_runs(store) == first
    assert opened == []
    assert first[0] == Listing(
        store / "runs" / "0000",
        "0000",
        "2026-01-01",
        "run",
        "running",
        False,
        ["heapwise", "run"],
        ["./prog", "--seed=0"],
        ["e"],
    )


def test_a_changed_run_is_read_again_and_no_other(store: Path, opened: list[Path]) -> None:
    list_runs(store)
    stored = read_run(store, "0007")
    with RunWriter.reopen(stored.path) as writer:
        writer.update(replace(stored.run, state="complete"))
    shutil.rmtree(store / "runs" / "0008")
    RunWriter.create(store, a_run(RUNS)).close()
    opened.clear()
    found = {run.id: run.state for run in list_runs(store)}
    assert sorted(folder.name for folder in opened) == ["0007", f"{RUNS:04x}"]
    assert found["0007"] == "complete"
    assert "0008" not in found
    assert len(found) == RUNS
    assert list_runs(store) == without_index(store)


def test_a_file_that_was_replaced_by_an_equally_long_one_of_the_same_time_is_read(
    store: Path,
) -> None:
    list_runs(store)
    file = store / "runs" / "0007" / "run.json"
    before = file.stat()
    other = file.with_name("other")
    other.write_text(file.read_text().replace("--seed=7", "--seed=8"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert next(run for run in list_runs(store) if run.id == "0007").command[1] == "--seed=8"


def test_damaged_runs_stay_in_the_list_and_out_of_the_index(store: Path) -> None:
    (store / "runs" / "0003" / "run.json").write_text('{"created":"2025"}')
    (store / "runs" / "0004" / "run.json").write_text("{")
    for _ in range(2):
        damaged = [run for run in list_runs(store) if run.problem]
        assert [run.id for run in damaged] == ["0004", "0003"]  # the first has no time
        assert "says no schema version" in damaged[1].problem
    assert resolve_run(store, "0004").name == "0004"


def test_a_small_store_has_no_index(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, a_run(0)).close()
    assert len(list_runs(tmp_path)) == 1
    assert list_runs(tmp_path / "nowhere") == []
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def execute(index: Path, statement: str) -> None:
    database = sqlite3.connect(index)
    database.execute(statement)
    database.commit()
    database.close()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda index: index.write_bytes(b""),
    "half": lambda index: index.write_bytes(index.read_bytes()[:5000]),
    "garbage": lambda index: index.write_bytes(b"\xff" * 10_000),
    "another version": lambda index: execute(index, "pragma user_version = 99"),
    "another table": lambda index: execute(index, "alter table runs rename to walks"),
    "a missing column": lambda index: execute(index, "alter table runs drop column state"),
    "numbers for text": lambda index: execute(index, "update runs set state = 5, command = 7"),
    "no list": lambda index: execute(index, "update runs set command = '{'"),
    "nulls": lambda index: execute(index, "update runs set created = null"),
    "a journal of its own": lambda index: execute(index, "pragma journal_mode = wal"),
    "unreadable": lambda index: index.chmod(0),
    "a folder": lambda index: (index.unlink(), index.mkdir()),
    "a pipe": lambda index: (index.unlink(), os.mkfifo(index)),
    "a device": lambda index: (index.unlink(), index.symlink_to("/dev/zero")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_an_index_that_cannot_be_used_is_as_good_as_none(store: Path, damage: str) -> None:
    expected = list_runs(store)
    DAMAGE[damage](store / INDEX_FILE)
    assert list_runs(store) == expected
    assert list_runs(store) == expected


def test_no_single_wrong_byte_makes_a_listing_fail_or_lose_a_run(store: Path) -> None:
    expected = {run.folder for run in list_runs(store)}
    index = store / INDEX_FILE
    whole = index.read_bytes()
    chance = random.Random(7)
    for _ in range(150):
        place = chance.choice([chance.randrange(200), chance.randrange(len(whole))])
        index.write_bytes(whole[:place] + bytes([chance.randrange(256)]) + whole[place + 1 :])
        assert {run.folder for run in list_runs(store)} == expected


def test_an_index_that_others_can_write_is_not_believed(store: Path) -> None:
    expected = list_runs(store)
    execute(store / INDEX_FILE, "update runs set id = 'lie'")
    (store / INDEX_FILE).chmod(0o622)
    assert list_runs(store) == expected


def test_an_index_that_is_a_link_is_not_followed_when_read_or_written(
    store: Path, tmp_path: Path
) -> None:
    expected = list_runs(store)
    elsewhere = tmp_path / "elsewhere"
    (store / INDEX_FILE).rename(elsewhere)
    execute(elsewhere, "update runs set id = 'lie'")
    before = elsewhere.read_bytes()
    (store / INDEX_FILE).symlink_to(elsewhere)
    assert list_runs(store) == expected
    assert elsewhere.read_bytes() == before
    assert not (store / INDEX_FILE).is_symlink()


def test_the_index_is_private(store: Path) -> None:
    before = os.umask(0)
    try:
        list_runs(store)
    finally:
        os.umask(before)
    assert (store / INDEX_FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_no_file_is_left_in_a_store_of_another_user(store: Path) -> None:
    os.chown(store, 65534, 65534)
    assert len(list_runs(store)) == RUNS
    assert not (store / INDEX_FILE).exists()


def test_no_file_is_left_in_a_store_that_others_can_write(store: Path) -> None:
    store.chmod(0o777)
    assert len(list_runs(store)) == RUNS
    assert not (store / INDEX_FILE).exists()


AS_A_READER = """
import os, sys
os.setgid(65534); os.setuid(65534)
from heapwise.store import list_runs
print(len(list_runs(sys.argv[1])))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_store_that_can_only_be_read_is_listed(stored_runs: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's are root's alone
        shutil.copytree(stored_runs, folder, dirs_exist_ok=True)
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(path.stat().st_mode | 0o055)
        done = subprocess.run(
            [sys.executable, "-c", AS_A_READER, folder], capture_output=True, text=True, check=False
        )
    assert (done.stdout, done.stderr) == (f"{RUNS}\n", "")


def test_a_full_disk_makes_no_listing_fail(store: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        assert len(list_runs(store)) == RUNS
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sorted(path.name for path in store.iterdir()) == ["runs"]


LISTER = """
import sys
from heapwise.store import list_runs
for _ in range(20):
    assert len({run.folder for run in list_runs(sys.argv[1])}) == int(sys.argv[2])
    (__import__("pathlib").Path(sys.argv[1]) / "index.sqlite").unlink(missing_ok=True)
"""


def test_commands_that_list_at_once_do_not_disturb_each_other(store: Path) -> None:
    commands = [
        subprocess.Popen(
            [sys.executable, "-c", LISTER, str(store), str(RUNS)], stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    for command in commands:
        assert command.communicate()[1] == b""
        assert command.returncode == 0
    assert len(list_runs(store)) == RUNS
    assert sorted(path.name for path in store.iterdir()) == [INDEX_FILE, "runs"]


HOSTILE = [
    "a'; drop table runs; --",
    "b\nc",
    "d\x1b[31m",
    os.fsdecode(b"e\xff\xfe"),
    "f\u202e",
    "-g",
    "h" * 200,
]


def test_names_of_folders_are_not_statements_and_need_not_be_text(store: Path) -> None:
    for name in HOSTILE:
        shutil.copytree(store / "runs" / "0001", store / "runs" / name)
        document = json.loads((store / "runs" / name / "run.json").read_text())
        document["command_line"] = [f"\0 {name!a} '\""]
        (store / "runs" / name / "run.json").write_text(json.dumps(document))
    expected = without_index(store)
    assert list_runs(store) == expected
    assert {run.folder.name for run in expected} >= set(HOSTILE)
    for name in HOSTILE:
        assert resolve_run(store, name).name == name


def test_a_run_with_a_date_to_come_is_not_the_last_one(tmp_path: Path) -> None:
    for number, created in enumerate(
        ("2026-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00")
    ):
        RunWriter.create(tmp_path, replace(a_run(number), created=created)).close()
    assert [run.id for run in list_runs(tmp_path)] == ["0001", "0000", "0002"]
    assert resolve_run(tmp_path, "last").name == "0002"


def test_a_run_that_nobody_writes_any_more_was_interrupted(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, a_run(1))
    assert list_runs(tmp_path)[0].shown_state == "running"
    writer.close()
    assert list_runs(tmp_path)[0].shown_state == "interrupted"


def test_a_run_before_the_newest_is_named_as_in_git(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        RunWriter.create(tmp_path, a_run(number)).close()
    found = {word: resolve_run(tmp_path, word).name for word in ("last~1", "last~~", "latest~0")}
    assert found == {"last~1": "0002", "last~~": "0001", "latest~0": "0003"}
    with pytest.raises(Problem, match=r"3$"):
        resolve_run(tmp_path, "last~3")
