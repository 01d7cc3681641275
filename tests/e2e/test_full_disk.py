"""No room for the next sample: all earlier ones are whole, and the run can go on later."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run, run_ids


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))


def test_a_full_disk_keeps_every_earlier_line(
    heapwise: Any, fake_native: Path, tmp_path: Path
) -> None:
    """A limit on the size of files stands for a disk: the write fails just so."""
    env = {"HEAPWISE_NATIVE": str(fake_native)}
    words = ("run", "fake/subjects", "--subjects", "good", "--rounds", "40", "--set", "size=8")
    done = heapwise(*words, env=env, preexec_fn=limit_files)
    assert done.returncode == 5, done.stderr
    assert "error E051" in done.stderr
    assert "heapwise resume" in done.stderr
    store = tmp_path / "store"
    stored = read_run(store, run_ids(store)[0])
    lines = (stored.path / "samples.jsonl").read_bytes()
    assert lines.endswith(b"\n")
    assert all(json.loads(line) for line in lines.splitlines())
    assert stored.damaged_lines == 0
    assert len(stored.samples) > 3
    again = heapwise("resume", stored.run.id, "--runs", "5", env=env)
    assert again.returncode == 0, again.stderr


def test_a_full_file_system(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    try:
        done = heapwise(
            "run",
            "fake/subjects",
            "--subjects",
            "many",
            "--set",
            "size=8",
            "--rounds",
            "1",
            "--store",
            str(small / "store"),
            env={"HEAPWISE_NATIVE": str(fake_native)},
        )
        assert done.returncode == 5, done.stderr
        assert "error E051" in done.stderr
        stored = read_run(small / "store", run_ids(small / "store")[0])
        assert stored.damaged_lines == 0
        assert stored.samples
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_read_only_file_system(heapwise: Any, fake_native: Path, tmp_path: Path) -> None:
    frozen = tmp_path / "frozen"
    frozen.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "none", str(frozen)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("a read-only file system cannot be mounted here")
    try:
        done = heapwise(
            "run",
            "fake/subjects",
            "--store",
            str(frozen / "store"),
            env={"HEAPWISE_NATIVE": str(fake_native)},
        )
        assert done.returncode == 5
        assert "error E050" in done.stderr
    finally:
        subprocess.run(["umount", str(frozen)], check=True)
