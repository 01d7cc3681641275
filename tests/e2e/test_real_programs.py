"""The programs of this machine that heap/real_programs measures, at smoke size, under our heap."""

from __future__ import annotations

import json
from typing import Any

import pytest

ALWAYS = {"perl", "sqlite3"}
"""Every machine that can build Heapwise has them."""

pytestmark = pytest.mark.usefixtures("built_native")


def test_every_program_that_is_here_does_the_same_work_under_our_heap(heapwise: Any) -> None:
    done = heapwise(
        "run", "heap/real_programs", "--smoke", "--subjects", "malloc@heapwise", "--json"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    rows = [
        row
        for row in result["rows"]
        if row["parameters"]["quantity"] == "peak_resident" or row["status"] != "ok"
    ]
    missing = {
        row["parameters"]["program"]: row["note"] for row in rows if row["status"] == "missing"
    }
    assert all("apt-get install" in note for note in missing.values())
    measured = {
        row["parameters"]["program"]: row for row in rows if row["subject"] == "malloc@heapwise"
    }
    assert {row["status"] for row in measured.values()} == {"ok"}, measured
    assert all(row["median"] > 1 << 20 for row in measured.values())
    assert measured.keys() >= ALWAYS
    checks = {check["id"]: check["verdict"] for check in result["trust"]["checks"]}
    assert (checks["V1"], checks["V2"], checks["V8"]) == ("pass", "pass", "pass")
