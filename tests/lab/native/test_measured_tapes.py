"""heap/rl_measured: its tapes have the sizes of the recordings that its tables are made of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
TABLES = ROOT / "experiments" / "heap" / "sources" / "rl_measured_tables.hpp"
SMALL = 512


def small_shares() -> dict[str, float]:
    """Program -> the share of blocks of at most SMALL bytes, as the tables have it."""
    rows: dict[str, list[tuple[int, float]]] = {}
    table = re.compile(r"(\w+)_sizes\[\] = |\{(\d+),\s+([\d.e-]+),\s+\{")
    for name, size, weight in table.findall(TABLES.read_text()):
        if name:
            rows[name] = []
        else:
            list(rows.values())[-1].append((int(size), float(weight)))
    return {
        name: sum(weight for size, weight in sizes if size <= SMALL) / sum(w for _, w in sizes)
        for name, sizes in rows.items()
    }


def test_a_tape_has_the_sizes_of_the_recording(heapwise: Any) -> None:
    expected = small_shares()
    names = ",".join(expected)
    done = heapwise(
        *("run", "heap/rl_measured", "--rounds", "1", "--repeats", "2", "--json"),
        *("--subjects", "malloc@glibc", "--set", f"program=rl_small,{names}"),
        *("--set", "threads=1", "--set", "tape=20000", "--set", "operations=20000"),
    )
    rows = json.loads(done.stdout)["rows"]
    assert {row["status"] for row in rows} == {"ok"}
    found = {
        row["parameters"]["program"]: row["median"]
        for row in rows
        if row["parameters"]["quantity"] == "small_share" and row["subject"] == "malloc@glibc"
    }
    assert found.pop("rl_small") == 1.0
    assert found == pytest.approx(expected, abs=0.02)
