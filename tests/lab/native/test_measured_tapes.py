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
    found = {}
    tables = re.findall(r"(\w+)_sizes\[\] = \{\n(.*?)\n\};", TABLES.read_text(), re.DOTALL)
    for name, body in tables:
        rows = re.findall(r"^\s*\{(\d+), ([\d.e-]+), ", body, re.MULTILINE)
        weights = {int(size): float(weight) for size, weight in rows}
        small = sum(weight for size, weight in weights.items() if size <= SMALL)
        found[name] = small / sum(weights.values())
    return found


def test_a_tape_has_the_sizes_of_the_recording(heapwise: Any) -> None:
    expected = small_shares()
    names = ",".join(expected)
    done = heapwise(
        *("run", "heap/rl_measured", "--rounds", "1", "--repeats", "1", "--json"),
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
