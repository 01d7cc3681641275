"""Program experiments: what each way to fail looks like, and that none of it is in any figure."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from heapwise.catalog import tree_output
from heapwise.model import Experiment, Quantity, SubjectSpec
from heapwise.model.build import filled
from heapwise.runner.executors.row_runner import reported, row_trouble
from heapwise.runner.plan.experiment_plan import resolve
from heapwise.runner.process.process_status import first_difference
from heapwise.store import read_run, run_ids

ROOT = Path(__file__).resolve().parents[3]
TOYS = ROOT / "tests" / "data" / "trees"
TROUBLES = {
    "counts_wrong": ("output_differs", "line 6 is 'long lived tree of depth 10"),
    "crashes": ("crashed", "crashed (SIGSEGV)"),
    "exits": ("failed", "exit code 7 instead of 0"),
    "hangs": ("timed_out", "no end after"),
}


@pytest.fixture
def trees(tmp_path: Path, built_native: Path) -> dict[str, str]:
    """Variables under which the experiments of the trees have the toys for rows."""
    native = tmp_path / "native"
    native.mkdir()
    for part in built_native.iterdir():
        if part.is_file():
            (native / part.name).symlink_to(part)
    shutil.copytree(ROOT / "experiments" / "trees", native / "experiments" / "trees")
    return {"HEAPWISE_NATIVE": str(native), "HEAPWISE_TREES": str(TOYS)}


def stored_run(tmp_path: Path) -> Any:
    store = tmp_path / "store"
    return read_run(store, run_ids(store)[-1])


def test_each_trouble_shows_as_such_and_is_in_no_average(
    heapwise: Any, trees: dict[str, str], tmp_path: Path
) -> None:
    """The contract: a wrong sum, a crash, a timeout and a missing runtime."""
    done = heapwise(
        "run",
        "trees/binary_trees",
        "--smoke",
        "--rounds",
        "2",
        "--timeout",
        "5s",
        "--subjects",
        "good,counts_wrong,crashes,exits,hangs,absent",
        "--json",
        env=trees,
    )
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    rows = {
        row["subject"]: row for row in result["rows"] if row["parameters"]["quantity"] == "wall"
    }
    for subject, (status, words) in TROUBLES.items():
        assert rows[subject]["status"] == status
        assert words in rows[subject]["note"]
        assert "2 of 2" in rows[subject]["note"]
    assert rows["absent"]["status"] == "missing"
    assert "apt-get install no-such-compiler" in rows["absent"]["note"]
    for subject in (*TROUBLES, "absent"):
        assert rows[subject]["median"] is None
        assert rows[subject]["n"] == 0
    measured = {s.subject for s in stored_run(tmp_path).samples}
    assert measured == {"malloc@glibc", "malloc@glibc-control", "good"}
    for subject in (*TROUBLES, "absent"):
        assert subject not in result["advice"]
    exported = heapwise("export", "last", "--format", "csv", env=trees).stdout
    figures = {
        line["subject"]: line["median"]
        for line in csv.DictReader(io.StringIO(exported))
        if line["quantity"] == "wall"
    }
    assert all(figures[subject] == "" for subject in (*TROUBLES, "absent"))


def test_the_terminal_says_it_in_the_row(heapwise: Any, trees: dict[str, str]) -> None:
    done = heapwise(
        "run", "trees/binary_trees", "--smoke", "--subjects", "crashes,absent,good", env=trees
    )
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith("  ")}
    assert "crashed (SIGSEGV) 1 of 1" in lines["crashes"]
    assert "missing: apt-get install no-such-compiler" in lines["absent"]
    kinds = [line for line in done.stdout.splitlines() if line.endswith(":")]
    assert kinds == ["explicit:", "reference counting:", "collectors:"]


def test_a_sample_is_of_the_work_that_the_process_did(
    heapwise: Any, trees: dict[str, str], tmp_path: Path
) -> None:
    """The user's own variables of a runtime stay out, and the row's own get in."""
    done = heapwise(
        "run",
        "trees/budget",
        "--smoke",
        "--subjects",
        "good",
        env={**trees, "TOY_COLLECTIONS": "77"},
    )
    assert done.returncode == 0, done.stderr
    assert "left out: TOY_COLLECTIONS" in done.stdout
    values = {s.subject: s.values for s in stored_run(tmp_path).samples}
    assert {name: v.get("collections") for name, v in values.items()} == {
        "malloc@glibc": None,
        "malloc@glibc-control": None,
        "good/lean": 9.0,
        "good/generous": 1.0,
    }
    lean = values["good/lean"]
    assert lean["longest_pause"] == 0.004
    assert 0 < lean["wall"] < 60
    assert 2**20 < lean["peak_resident"] < 2**30
    assert lean["user"] + lean["system"] > 0


def test_malloc_rows_are_proven_in_every_process(
    heapwise: Any, trees: dict[str, str], tmp_path: Path
) -> None:
    from heapwise.catalog import system_library

    heapwise("run", "trees/binary_trees", "--smoke", "--subjects", "malloc", env=trees)
    stored = stored_run(tmp_path)
    ours = [p for p in stored.processes if p.subject == "malloc@heapwise"]
    assert [p.status for p in ours] == ["ok"]
    assert {Path(record.malloc.path).name for record in ours[0].identity} == {
        "libheapwise-malloc.so"
    }
    plain = next(p for p in stored.processes if p.subject == "malloc@glibc")
    assert Path(plain.identity[0].malloc.path).resolve() == Path(system_library()).resolve()


def test_a_run_goes_on_after_ctrl_c(
    trees: dict[str, str], environment: dict[str, str], tmp_path: Path, heapwise: Any
) -> None:
    """Stopped while a row hangs: the others are kept, and resume runs what is left."""
    running = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "heapwise",
            "run",
            "trees/binary_trees",
            "--smoke",
            "--subjects",
            "good,hangs",
            "--rounds",
            "2",
            "--timeout",
            "4s",
            "--seed",
            "5",
        ],
        env=environment | trees,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        process_group=0,
        # What a shell starts in the background ignores the signal, a user's does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_for(lambda: hanging(running.pid) or running.poll() is not None)
    assert running.returncode is None, running.stderr and running.stderr.read()
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=90)
    assert running.returncode == 130, said
    before = stored_run(tmp_path)
    assert before.run.state == "interrupted"
    heapwise("resume", env=trees)
    after = stored_run(tmp_path)
    assert after.run.state == "complete"
    ended = [(p.round, p.subject) for p in after.processes if p.status != "interrupted"]
    assert sorted(ended) == sorted(
        (n, name)
        for n in (0, 1)
        for name in ("malloc@glibc", "malloc@glibc-control", "good", "hangs")
    )


def hanging(pid: int) -> bool:
    """The row that hangs has been started by this process. Other tests may have one too."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    lines = [
        (int(child), int(parent), args)
        for child, parent, args in (
            line.split(maxsplit=2) for line in listed if len(line.split(maxsplit=2)) == 3
        )
    ]
    family, size = {pid}, 0
    while len(family) > size:
        size = len(family)
        family |= {child for child, parent, _ in lines if parent in family}
    return any(
        child in family and f"{TOYS}/toy/tree.py hangs" in args and "heapwise-launch" not in args
        for child, _, args in lines
    )


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def test_the_last_report_line_counts_and_its_odd_words_do_not() -> None:
    stderr = (
        b"heapwise-trees: collections=1\nother\n"
        b"heapwise-trees: collections=12 longest_pause_s=0.5 broken=x more\n"
    )
    assert reported(stderr) == {"collections": 12.0, "longest_pause": 0.5}
    assert reported(b"nothing of the kind") == {}


def test_only_parameters_are_filled_in() -> None:
    assert filled("-Dx={depth}{other}", {"depth": 9}) == "-Dx=9{other}"


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        (b"", "line 1 is nothing instead of"),
        (tree_output(6) + b"more\n", "more than it should"),
        (tree_output(6).replace(b"\n", b"\r\n"), "line ends"),
        (tree_output(6).replace(b"127", b"128"), "line 4 is"),
    ],
)
def test_the_first_difference_is_named(printed: bytes, words: str) -> None:
    assert words in first_difference(printed, tree_output(6))


def test_a_row_is_tried_before_it_is_called_ready() -> None:
    script = [sys.executable, f"{TOYS}/toy/tree.py"]
    assert (
        row_trouble(SubjectSpec("good", "program", "", command=[*script, "good", "{depth}"])) == ""
    )
    wrong = SubjectSpec("x", "program", "", command=[*script, "counts_wrong", "{depth}"])
    assert "line 4 is" in row_trouble(wrong)
    assert "No such file" in row_trouble(SubjectSpec("x", "program", "", command=["/no/such"]))


def test_missing_programs_stay_as_rows_and_other_missing_subjects_go() -> None:
    missing = [
        SubjectSpec("a", "program", "", available=False, reason="get it", command=["a"]),
        SubjectSpec("b", "inline", "", available=False, reason="no library"),
    ]
    found = resolve(
        Experiment(
            1, "x/y", "x", "", "", "", [], [Quantity("wall", "s", "lower")], missing, "a", 1, 0
        ),
        [],
    )
    assert [spec.name for spec in found.subjects] == ["a"]
