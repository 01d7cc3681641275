"""Runs are written so that nothing is lost, and read whatever happened to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heapwise.errors import Problem
from heapwise.machine import read_machine
from heapwise.model import (
    SCHEMA_VERSION,
    Experiment,
    Parameter,
    Plan,
    Process,
    ProcessFacts,
    Quantity,
    Run,
    Sample,
    SubjectSpec,
)
from heapwise.store import (
    RunWriter,
    StoredRun,
    check_writable,
    find_store,
    new_run_id,
    read_run,
    resolve_run,
    run_ids,
    store_key,
)
from heapwise.store import lock as store_lock
from heapwise.store.migrate import STEPS, migrate
from heapwise.store.writer import write_atomically


def a_run(id: str = "7f3a", created: str = "2026-01-01") -> Run:
    plan = Plan("run", [], [], {}, [], 1, 1, 1, 0.0, 0.0, 0, 0.0)
    experiment = Experiment(
        1,
        "e",
        "e",
        "?",
        "",
        "",
        [Parameter("size", "", [8], [8])],
        [Quantity("pair", "s", "lower")],
        [SubjectSpec("s", "inline", "s")],
        "s",
        1,
        0,
    )
    return Run(1, id, "0.1.0", created, ["heapwise"], plan, read_machine(), [experiment], "running")


def a_process(number: int, status: str = "ok") -> Process:
    return Process(number, "e", "s", {"size": 8}, 0, status)  # type: ignore[arg-type]


def a_sample(process: int, repeat: int = 0) -> Sample:
    return Sample(process, "e", "s", {"size": 8}, 0, repeat, False, {"pair": 1.5})


def test_a_written_run_is_read_back(tmp_path: Path) -> None:
    run = a_run()
    with RunWriter.create(tmp_path, run) as writer:
        writer.append(a_sample(0))
        writer.append(a_process(0))
        writer.append(a_sample(1))
        ended = replace(run, state="interrupted")
        writer.update(ended)
    stored = read_run(tmp_path, "7f3a")
    assert stored.run == ended
    assert stored.processes == [a_process(0)]
    assert stored.samples == [a_sample(0), a_sample(1)]
    assert stored.finished_samples == [a_sample(0)]
    assert stored.damaged_lines == 0


def test_each_line_is_on_disk_at_once(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, a_run())
    for number in range(3):
        writer.append(a_sample(number))
        assert len(read_run(tmp_path, "7f3a").samples) == number + 1


def test_a_torn_last_line_is_not_damage_and_later_lines_are_whole(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, a_run()) as writer:
        writer.append(a_sample(0))
    samples = tmp_path / "runs/7f3a/samples.jsonl"
    with samples.open("ab") as file:
        file.write(b'{"kind":"sample","pro')
    torn = read_run(tmp_path, "7f3a")
    assert (len(torn.samples), torn.damaged_lines) == (1, 0)
    with RunWriter.reopen(torn.path) as writer:
        writer.append(a_sample(1))
    healed = read_run(tmp_path, "7f3a")
    assert healed.samples == [a_sample(0), a_sample(1)]
    assert healed.damaged_lines == 1


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"\xff\xfe", b"[1]", b'{"kind":"other"}', b'{"kind":"sample","process":"zero"}'],
)
def test_damaged_lines_are_skipped_and_counted(tmp_path: Path, line: bytes) -> None:
    with RunWriter.create(tmp_path, a_run()) as writer:
        writer.append(a_sample(0))
    with (tmp_path / "runs/7f3a/samples.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with RunWriter.reopen(tmp_path / "runs/7f3a") as writer:
        writer.append(a_sample(1))
    stored = read_run(tmp_path, "7f3a")
    assert (len(stored.samples), stored.damaged_lines) == (2, 1)


def test_unknown_keys_survive_a_rewrite(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, a_run()).close()
    file = tmp_path / "runs/7f3a/run.json"
    document = json.loads(file.read_text())
    document["novelty"] = {"a": [1]}
    document["plan"]["mood"] = "good"
    document["plan"]["options"]["mood"] = "better"
    document["machine"]["colour"] = "grey"
    document["machine"]["facts"]["quiet"] = {"birds": 2}
    file.write_text(json.dumps(document))
    stored = read_run(tmp_path, "7f3a")
    with RunWriter.reopen(stored.path) as writer:
        writer.update(replace(stored.run, state="complete"))
    after = json.loads(file.read_text())
    assert (after["novelty"], after["plan"]["mood"]) == ({"a": [1]}, "good")
    assert after["plan"]["options"]["mood"] == "better"
    assert after["machine"]["colour"] == "grey"
    assert after["machine"]["facts"]["quiet"]["birds"] == 2
    assert after["state"] == "complete"


def test_a_full_disk_is_e051_and_cuts_the_torn_line(tmp_path: Path) -> None:
    folder = tmp_path / "runs/7f3a"
    folder.mkdir(parents=True)
    (folder / "samples.jsonl").symlink_to("/dev/full")
    writer = RunWriter(folder, a_run(), {})
    with pytest.raises(Problem) as caught:
        writer.append(a_sample(0))
    assert caught.value.id == "E051"


def test_an_atomic_write_leaves_the_old_file_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.json"
    write_atomically(file, b"old")

    def fail(*ignored: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, b"new and longer")
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_store_under_a_file_is_e050(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for act in (lambda p: check_writable(p), lambda p: RunWriter.create(p, a_run())):
        with pytest.raises(Problem) as caught:
            act(tmp_path / "file" / "store")
        assert caught.value.id == "E050"


def test_runs_are_listed_by_age_and_found_by_a_beginning(tmp_path: Path) -> None:
    for id, created in (("aa11", "2026-03"), ("ab22", "2026-01"), ("cc33", "2026-02")):
        RunWriter.create(tmp_path, a_run(id, created)).close()
    assert run_ids(tmp_path) == ["ab22", "cc33", "aa11"]
    assert resolve_run(tmp_path, "last").name == "aa11"
    assert resolve_run(tmp_path, "c").name == "cc33"
    assert resolve_run(tmp_path, str(tmp_path / "runs/ab22")).name == "ab22"
    for wrong, part in (
        ("a", "beginning of 2"),
        ("cc34", "did you mean cc33"),
        ("lats", "did you mean last"),
        ("", "no run"),
    ):
        with pytest.raises(Problem, match=part) as caught:
            resolve_run(tmp_path, wrong)
        assert caught.value.id == "E004"


def test_run_ids_are_short_and_new(tmp_path: Path) -> None:
    ids = {new_run_id(tmp_path) for _ in range(50)}
    assert all(len(id) == 4 and int(id, 16) >= 0 and not id.isdigit() for id in ids)
    assert len(ids) > 40


@pytest.mark.parametrize("schema", [None, "1", -1, 0, True, 1.5])
def test_no_schema_is_damage(schema: object) -> None:
    with pytest.raises(Problem) as caught:
        migrate({"schema": schema}, "run.json")
    assert caught.value.id == "E061"


def test_migration_walks_step_by_step_and_stops_at_the_newer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert migrate({"schema": 1}, "run.json") == {"schema": 1}
    assert set(STEPS) == set(range(1, SCHEMA_VERSION))
    monkeypatch.setattr("heapwise.store.migrate.SCHEMA_VERSION", 3)
    for schema in (1, 2):
        monkeypatch.setitem(STEPS, schema, lambda old: {"schema": old["schema"] + 1, "was": old})
    found = migrate({"schema": 1}, "run.json")
    assert (found["schema"], found["was"]["was"]) == (3, {"schema": 1})
    monkeypatch.undo()
    with pytest.raises(Problem) as caught:
        migrate({"schema": 2}, "run.json")
    assert caught.value.id == "E060"


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.delenv("HEAPWISE_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert find_store(start=deep) == tmp_path / "data" / "heapwise"
    (tmp_path / ".heapwise").mkdir()
    assert find_store(start=deep) == tmp_path / ".heapwise"
    monkeypatch.setenv("HEAPWISE_STORE", str(tmp_path / "env"))
    assert find_store(start=deep) == tmp_path / "env"
    assert find_store(tmp_path / "flag", deep) == tmp_path / "flag"
    monkeypatch.delenv("HEAPWISE_STORE")
    monkeypatch.delenv("XDG_DATA_HOME")
    (tmp_path / ".heapwise").rmdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_store(start=deep) == tmp_path / ".local/share/heapwise"


def test_new_folders_are_private_and_old_ones_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    before = os.umask(0o000)
    try:
        RunWriter.create(tmp_path / "shared" / "new" / "store", a_run()).close()
        store_key(tmp_path / "shared" / "new" / "store")
    finally:
        os.umask(before)
    for path in (tmp_path / "shared").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o755


def test_a_store_has_one_key_for_good(tmp_path: Path) -> None:
    key = store_key(tmp_path)
    assert len(key) == 32
    assert store_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


LOCKER = """
import sys, time
from heapwise.store.writer import RunWriter
from heapwise.store import read_run
stored = read_run(sys.argv[1], "7f3a")
writer = RunWriter.reopen(stored.path)
print("locked", flush=True)
time.sleep(60)
"""


def test_only_one_process_writes_a_run_and_the_lock_dies_with_it(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, a_run()).close()
    folder = tmp_path / "runs/7f3a"
    before = (folder / "run.json").read_bytes()
    with subprocess.Popen(
        [sys.executable, "-c", LOCKER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(Problem, match=f"7f3a is being measured by process {other.pid}") as no:
            RunWriter.reopen(folder)
        assert (no.value.id, int(no.value.exit)) == ("E006", 2)
        assert (folder / "run.json").read_bytes() == before
        other.kill()
    with RunWriter.reopen(folder) as writer:
        writer.append(a_sample(0))


def test_a_lock_of_a_file_with_the_same_inode_number_elsewhere_is_not_that_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two file systems can give one number to two files, and the kernel names this process."""
    with RunWriter.create(tmp_path, a_run()) as writer:
        samples = writer.folder / "samples.jsonl"
        locks = tmp_path / "locks"
        locks.write_text(
            f"1: FLOCK  ADVISORY  WRITE {os.getpid()} 00:42:{samples.stat().st_ino} 0 EOF\n"
        )
        monkeypatch.setattr(store_lock, "LOCKS", locks)
        assert store_lock.is_locked(samples)
    assert not store_lock.is_locked(samples)


def test_process_numbers_that_occur_twice_are_damage(tmp_path: Path) -> None:
    """As two processes leave them that measured one run at once."""
    records = [
        a_sample(0),
        a_process(0),
        a_sample(1),
        a_sample(1),
        a_process(1),
        a_process(1),
        replace(a_sample(2), subject="another"),
        a_process(2),
        a_sample(3),
    ]
    with RunWriter.create(tmp_path, a_run()) as writer:
        for record in records:
            writer.append(record)
    stored = read_run(tmp_path, "7f3a")
    assert stored.processes == [a_process(0), a_process(1), a_process(2)]
    assert stored.samples == [a_sample(0), a_sample(1), a_sample(3)]
    assert stored.damaged_lines == 3


def stored_with(tmp_path: Path, *lines: str) -> StoredRun:
    RunWriter.create(tmp_path, a_run()).close()
    with (tmp_path / "runs/7f3a/samples.jsonl").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)
    return read_run(tmp_path, "7f3a")


PROCESS = (
    '{"kind":"process","number":0,"experiment":"e","subject":"s","parameters":{"size":8},'
    '"round":0,"status":"ok","facts":%s,"identity":%s}'
)
SAMPLE = (
    '{"kind":"sample","process":0,"experiment":"%s","subject":"s","parameters":{"size":8},'
    '"round":0,"repeat":0,"warm_up":false,"values":%s,"facts":%s}'
)


@pytest.mark.parametrize(
    "line",
    [
        *(
            PROCESS % (facts, "[]")
            for facts in (
                '{"peak_rss_bytes":[]}',
                '{"affinity":[[]]}',
                '{"sizes":[{}]}',
                '{"steal_ticks":{}}',
                '{"exit_code":[]}',
                '{"minor_faults":1e308}',
                '{"wall_s":"long"}',
                '{"calls":[1]}',
                '{"start":{"clock":[]}}',
                '{"checks":[1]}',
                '{"end":{"expected_calls":"x"}}',
            )
        ),
        *(
            PROCESS % ("{}", identity)
            for identity in ('[{"malloc":[]}]', '[{"exe":1}]', '[{"affinity":["x"]}]')
        ),
        (PROCESS % ("{}", "[]")).replace('{"size":8}', '{"size":[8]}'),
        SAMPLE % ("e", '{"pair":1e308}', "{}"),
        SAMPLE % ("e", '{"other":1.0}', "{}"),
        SAMPLE % ("other", '{"pair":1.0}', "{}"),
        SAMPLE % ("e", '{"pair":1.0}', '{"cpus":[{}]}'),
    ],
)
def test_a_line_with_a_fact_of_another_type_is_skipped(tmp_path: Path, line: str) -> None:
    stored = stored_with(tmp_path, line)
    assert (stored.processes, stored.samples, stored.damaged_lines) == ([], [], 1)


def test_facts_that_nobody_knows_may_be_anything(tmp_path: Path) -> None:
    stored = stored_with(
        tmp_path,
        PROCESS % ('{"novelty":[{}],"wall_s":1,"signal":null}', "[{}]"),
        SAMPLE % ("e", '{"pair":1}', '{"novelty":{}}'),
    )
    assert (len(stored.processes), len(stored.samples), stored.damaged_lines) == (1, 1, 0)


def test_facts_are_stored_as_they_were_printed(tmp_path: Path) -> None:
    """Whole numbers stay whole, and what was not recorded has no key."""
    printed = {
        "wall_s": 1.5,
        "exit_code": 0,
        "spin_before_ns": 1000,
        "timed_out": False,
        "start": {"kind": "start", "parameters": {"n": 8}, "clock": {"overhead_ns": 21.5}},
        "checks": [{"id": "work", "ok": True, "detail": ""}],
        "calls": {"malloc": 1, "calloc": 0, "realloc": 0, "free": 0, "aligned": 0},
    }
    facts = msgspec.json.decode(json.dumps({**printed, "signal": None}), type=ProcessFacts)
    with RunWriter.create(tmp_path, a_run()) as writer:
        writer.append(replace(a_process(0), facts=facts))
    stored = json.loads((tmp_path / "runs/7f3a/samples.jsonl").read_text())["facts"]
    assert stored == printed
    assert json.dumps(stored, sort_keys=True) == json.dumps(printed, sort_keys=True)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("options", {"cpus": "all"}),
        ("options", {"files": {"program": {"path": "/bin/x"}}}),
        ("facts", {"quiet": []}),
        ("facts", {"settings": {"thp": []}}),
    ],
)
def test_a_run_with_an_option_or_a_fact_of_another_type_is_damaged(
    tmp_path: Path, part: str, wrong: dict[str, Any]
) -> None:
    RunWriter.create(tmp_path, a_run()).close()
    file = tmp_path / "runs/7f3a/run.json"
    document = json.loads(file.read_text())
    document["plan" if part == "options" else "machine"][part] = wrong
    file.write_text(json.dumps(document))
    with pytest.raises(Problem) as caught:
        read_run(tmp_path, "7f3a")
    assert caught.value.id == "E061"


@pytest.mark.parametrize("name", ["cores", "memory_bytes", "page_bytes"])
def test_a_machine_with_a_number_that_no_machine_has_is_damaged(tmp_path: Path, name: str) -> None:
    RunWriter.create(tmp_path, a_run()).close()
    file = tmp_path / "runs/7f3a/run.json"
    document = json.loads(file.read_text())
    document["machine"][name] = 10**400
    file.write_text(json.dumps(document))
    with pytest.raises(Problem) as caught:
        read_run(tmp_path, "7f3a")
    assert caught.value.id == "E061"


@pytest.mark.parametrize("what", ["experiment", "quantity"])
def test_a_run_that_declares_one_name_twice_is_damaged(tmp_path: Path, what: str) -> None:
    RunWriter.create(tmp_path, a_run()).close()
    file = tmp_path / "runs/7f3a/run.json"
    document = json.loads(file.read_text())
    experiments = document["experiments"]
    declared = experiments if what == "experiment" else experiments[0]["quantities"]
    declared.append(declared[0])
    file.write_text(json.dumps(document))
    with pytest.raises(Problem, match="twice") as caught:
        read_run(tmp_path, "7f3a")
    assert caught.value.id == "E061"


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, make_device])
@pytest.mark.parametrize("name", ["run.json", "samples.jsonl"])
def test_only_regular_files_are_read(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    RunWriter.create(tmp_path, a_run()).close()
    (tmp_path / "runs/7f3a" / name).unlink()
    make(tmp_path / "runs/7f3a" / name)
    with pytest.raises(Problem) as caught:
        read_run(tmp_path, "7f3a")
    assert caught.value.id == "E061"


def test_a_run_nested_without_end_is_damage(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, a_run()).close()
    (tmp_path / "runs/7f3a/run.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    with pytest.raises(Problem) as caught:
        read_run(tmp_path, "7f3a")
    assert caught.value.id == "E061"
