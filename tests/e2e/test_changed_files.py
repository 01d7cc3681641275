"""Figures of two different programs never become one result."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from planned import planned_processes

from heapwise.catalog import choose_peers
from heapwise.store import read_run

JOB = "#!{shell}\ncat\necho same\n"


@pytest.fixture
def job(built_native: Path, tmp_path: Path) -> Path:
    """A script, with an interpreter, an input and a library that are the test's own."""
    shutil.copy("/bin/dash" if Path("/bin/dash").exists() else "/bin/sh", tmp_path / "shell")
    present, _ = choose_peers(["jemalloc"])
    shutil.copy(present[0].path or "", tmp_path / "libmine.so")
    (tmp_path / "input").write_text("words\n")
    program = tmp_path / "job"
    program.write_text(JOB.format(shell=tmp_path / "shell"))
    program.chmod(0o755)
    return program


def compare(heapwise: Any, job: Path, rounds: int) -> Any:
    return heapwise(
        "compare",
        "--runs",
        str(rounds),
        "--warmup",
        "0",
        "--quiet",
        "--input",
        "input",
        "--allocators",
        "glibc",
        "--allocator",
        f"mine={job.parent / 'libmine.so'}",
        "--",
        str(job),
    )


def flat(done: Any) -> str:
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("name", ["job", "shell", "input", "libmine.so"])
def test_resume_refuses_another_file(heapwise: Any, job: Path, tmp_path: Path, name: str) -> None:
    done = compare(heapwise, job, 1)
    assert done.returncode in (0, 4), done.stderr
    file = tmp_path / name
    before = file.read_bytes()
    os.utime(file, (1, 1))
    again = heapwise("resume", "--runs", "2", "--quiet")
    assert again.returncode in (0, 4), "touched, and the same bytes: " + again.stderr
    kept = read_run(tmp_path / "store", "last")
    assert len(planned_processes(kept)) == 6
    file.write_bytes(before + b"\n#\n")
    refused = heapwise("resume", "--runs", "3", "--quiet")
    assert refused.returncode == 3, refused.stderr
    assert f"error E032: {file} is not the file" in flat(refused)
    stored = read_run(tmp_path / "store", "last")
    assert (stored.run.state, stored.processes) == ("complete", kept.processes)
    file.write_bytes(before)
    assert heapwise("resume", "--runs", "3", "--quiet").returncode in (0, 4)


@pytest.mark.parametrize("name", ["lib/plugin.so", "work.py"])
def test_resume_refuses_another_plugin_or_module_beside_the_program(
    heapwise: Any, tmp_path: Path, name: str
) -> None:
    """The program's own file is the same. Data beside it may change."""
    for path in ("lib/plugin.so", "work.py", "data.txt"):
        (tmp_path / "app" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "app" / path).write_text("old")
    program = tmp_path / "app" / "job.py"
    program.write_text("#!/bin/sh\necho same\n")
    program.chmod(0o755)
    words = ("compare", "--runs", "1", "--warmup", "0", "--quiet", str(program), f"{program} x")
    assert heapwise(*words).returncode in (0, 4)
    (tmp_path / "app" / "data.txt").write_text("new")
    assert heapwise("resume", "--runs", "2", "--quiet").returncode in (0, 4)
    (tmp_path / "app" / name).write_text("new")
    refused = heapwise("resume", "--runs", "3", "--quiet")
    assert refused.returncode == 3, refused.stderr
    assert f"error E032: {tmp_path / 'app' / name} is not the file" in flat(refused)


def test_resume_names_a_file_that_is_gone(heapwise: Any, job: Path) -> None:
    assert compare(heapwise, job, 1).returncode in (0, 4)
    job.unlink()
    refused = heapwise("resume", "--runs", "2", "--quiet")
    assert refused.returncode == 3, refused.stderr
    assert f"error E032: {job} is gone" in flat(refused)


def test_a_program_that_is_replaced_while_it_is_measured_ends_the_run(
    heapwise: Any, job: Path, tmp_path: Path
) -> None:
    """The fifth process replaces the program, as a build in another terminal would."""
    job.write_text(
        JOB.format(shell=tmp_path / "shell")
        + (
            f"echo >>{tmp_path}/count\n"
            f"test $(wc -l <{tmp_path}/count) -ne 5 || mv {tmp_path}/other {job}\n"
        )
    )
    (tmp_path / "other").write_text(JOB.format(shell=tmp_path / "shell"))
    (tmp_path / "other").chmod(0o755)
    done = compare(heapwise, job, 9)
    assert done.returncode == 3, done.stderr
    assert f"error E032: {job} is not the file" in flat(done)
    stored = read_run(tmp_path / "store", "last")
    assert stored.run.state == "interrupted"
    # The fifth may be one whose calls are counted, which belongs to the step before it.
    timed = [p for p in stored.processes if p.status == "ok" and not p.facts.counting]
    assert 1 <= len(timed) <= 4
    assert len((tmp_path / "count").read_text().splitlines()) <= 6


def test_resume_refuses_another_experiment(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    words = ("--subjects", "good", "--rounds", "1", "--quiet")
    assert heapwise("run", "fake/subjects", *words, env=env).returncode == 0
    binary = fake_native / "experiments" / "fake" / "subjects"
    binary.write_text(binary.read_text() + "\n# built again\n")
    refused = heapwise("resume", "--runs", "2", env=env)
    assert refused.returncode == 3, refused.stderr
    assert f"error E032: {binary} is not the file" in flat(refused)


def test_a_run_of_an_older_version_goes_on(heapwise: Any, job: Path, tmp_path: Path) -> None:
    """It holds nothing about its files; from now on it does."""
    assert compare(heapwise, job, 1).returncode in (0, 4)
    file = next((tmp_path / "store" / "runs").glob("*/run.json"))
    text = file.read_text()
    assert '"files"' in text
    file.write_text(text.replace('"files"', '"other"'))
    assert heapwise("resume", "--runs", "2", "--quiet").returncode in (0, 4)
    assert read_run(tmp_path / "store", "last").run.plan.options.files
