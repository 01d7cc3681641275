"""Every row of the trees whose runtime is here: built, run, and its sums compared."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from heapwise.catalog import read_trees

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "test" / "data"
"""Kept from one run of the tests to the next: built again only what has changed."""

PATIENCE_S = 400
"""A machine where others work too."""

EVERY = os.environ.get("HEAPWISE_TIER") == "long"
USUAL = {"ocaml"}
"""Languages that `make test` builds; `make test-long` builds all."""

LONG = {"ocaml5"}
"""Builds its own compiler, which takes minutes: only where that was done before."""

WITH_COMPILER = {"ocaml": "ocaml", "go": "go", "java": "java_g1", "rust": "rust_box"}
"""A row of each language that the tests have a compiler for, by tools/packages/trees.txt."""


@pytest.fixture(scope="module")
def languages() -> list[str]:
    """Those whose tools are here: nothing is installed by a test."""
    here = [programs.name for programs in read_trees() if not programs.lacking()]
    return [name for name in here if EVERY or name in USUAL]


def test_every_row_that_is_here_prints_the_same_sums(
    heapwise: Any, languages: list[str], tmp_path: Path
) -> None:
    data = {
        "XDG_DATA_HOME": str(BUILT),
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
    }
    for name in languages:
        if name not in LONG or (BUILT / "heapwise" / "trees" / name).exists():
            heapwise("peers", "add", f"trees/{name}", "--quiet", env=data, timeout_s=PATIENCE_S)
    done = heapwise("run", "trees/*", "--smoke", "--json", env=data, timeout_s=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    walls = {
        (row["experiment"], row["subject"]): row
        for row in result["rows"]
        if row["parameters"]["quantity"] == "wall"
    }
    missing = {key: row["note"] for key, row in walls.items() if row["status"] == "missing"}
    assert all(note for note in missing.values()), "each says how to get it"
    others = {key: row["status"] for key, row in walls.items() if key not in missing}
    assert set(others.values()) == {"ok"}
    here = {subject for experiment, subject in others if experiment == "trees/binary_trees"}
    assert {
        "malloc@glibc",
        "malloc@heapwise",
        "shared_ptr",
        "unique_ptr",
        "pool",
        "arena",
        "tiny_gc",
    } <= here
    expected = {row for language, row in WITH_COMPILER.items() if language in languages}
    assert expected <= here, missing
    ran = (tmp_path / "store" / "runs").glob("*/samples.jsonl")
    processes = [
        line
        for file in ran
        for line in map(json.loads, file.read_text().splitlines())
        if line["kind"] == "process"
    ]
    assert len(processes) >= len(others)
    assert len({line["facts"]["output_hash"] for line in processes}) == 1
