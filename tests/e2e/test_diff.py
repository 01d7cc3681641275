"""``heapwise diff`` on two real runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import run_ids

SOURCE = Path(__file__).resolve().parents[1] / "data" / "gate_program.c"

pytestmark = pytest.mark.usefixtures("built_native")


def test_two_runs_of_one_program(heapwise: Any, tmp_path: Path) -> None:
    for _ in range(2):
        heapwise("compare", "--allocators", "jemalloc,glibc", "--runs", "2", "--", "/bin/true")
    ids = run_ids(tmp_path / "store")
    done = heapwise("diff", *ids)
    assert done.returncode == 0, done.stderr
    for word in ("Unpaired", "weaker than heapwise compare", "jemalloc", *ids):
        assert word in done.stdout
    found = json.loads(heapwise("diff", *ids, "--json").stdout)
    assert found["reasons"] == []
    assert {row["subject"] for row in found["rows"]} == {"glibc", "jemalloc"}


def test_an_unknown_run_is_bad_usage(heapwise: Any) -> None:
    done = heapwise("diff", "0000", "last")
    assert done.returncode == 2
    assert "E004" in done.stderr


def test_two_files_of_hyperfine(heapwise: Any, tmp_path: Path) -> None:
    for name, factor in (("old.json", 2.0), ("new.json", 1.0)):
        times = [factor * (1 + number / 1000) for number in range(8)]
        results = [{"command": "./app", "mean": factor, "times": times}]
        (tmp_path / name).write_text(json.dumps({"results": results}))
    done = heapwise("diff", "old.json", "new.json")
    assert done.returncode == 0, done.stderr
    assert "better" not in done.stdout
    assert "do not say how much two of them differ by themselves" in " ".join(done.stdout.split())
    refused = heapwise("diff", "old.json", "last")
    assert refused.returncode == 2
    assert "heapwise export RUN -f hyperfine" in refused.stderr


def test_our_own_export_as_hyperfine_is_read(heapwise: Any, tmp_path: Path) -> None:
    heapwise("compare", "-r", "4", "-w", "0", "--allocators", "jemalloc", "--", "/bin/true")
    assert heapwise("export", "last", "-f", "hyperfine", "-o", "a.json").returncode == 0
    found = json.loads(heapwise("diff", "a.json", "a.json", "--json").stdout)
    assert {row["ratio"] for row in found["rows"]} == {1.0}
    assert len(found["rows"]) == 3, "the second label of the baseline is a command too"


def test_a_limit_on_stored_runs_has_the_exit_codes_of_a_gate(heapwise: Any, tmp_path: Path) -> None:
    for extra in (0, 0, 3):
        flag = f"-DEXTRA={extra}"
        subprocess.run(["cc", flag, "-o", "app", str(SOURCE)], cwd=tmp_path, check=True)
        options = ("--allocators", "jemalloc,glibc", "--runs", "2", "--warmup", "0")
        done = heapwise("compare", *options, "--", "./app", "10", "100")
        assert done.returncode == 0, done.stderr
    first, same, more = run_ids(tmp_path / "store")
    limit = ("--limit", "allocations=0")
    fine = heapwise("diff", first, same, *limit)
    assert fine.returncode == 0, fine.stdout + fine.stderr
    assert "Allocations of glibc are fine" in " ".join(fine.stdout.split())
    worse = heapwise("diff", first, more, *limit, "--json", "--export", "limits.xml")
    assert worse.returncode == 1, worse.stdout + worse.stderr
    rows = {row["subject"]: row for row in json.loads(worse.stdout)["gate"]["rows"]}
    assert rows["glibc"]["verdict"] == "regressed"
    assert rows["glibc"]["new"] - rows["glibc"]["base"] == 3
    assert 'name="allocations of glibc"' in (tmp_path / "limits.xml").read_text()
    # Two rounds have no interval, and nobody knows how much runs differ.
    untold = heapwise("diff", first, same, "--limit", "time=5%")
    assert untold.returncode == 4, untold.stdout + untold.stderr


def test_limits_of_stored_runs_need_a_limit(heapwise: Any) -> None:
    done = heapwise("diff", "last~1", "last", "--limit", "tme=3%")
    assert done.returncode == 2
    assert "there is no metric 'tme'" in done.stderr
