"""``heapwise diff`` on two real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import run_ids

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
