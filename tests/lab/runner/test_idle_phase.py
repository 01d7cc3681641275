"""A program that sleeps at its end: its time is that of its work, and its memory is read twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run, run_ids

ROOT = Path(__file__).resolve().parents[3]
MIB = 1 << 20
SLEEPS_S = 1.5
PROGRAM = """
import sys
import time

import numpy
from rl_phase import begin, end

begin()
weights = numpy.ones(4 << 20)
for _ in range(5):
    weights = weights * 0.5 + 1
    time.sleep(0.2)
print("sum", int(weights.sum()))
end()
"""


@pytest.fixture
def surroundings(tmp_path: Path, built_native: Path) -> dict[str, str]:
    native, programs = tmp_path / "native", tmp_path / "programs"
    family = native / "experiments" / "heap"
    family.mkdir(parents=True)
    for part in built_native.iterdir():
        if part.is_file():
            (native / part.name).symlink_to(part)
    shutil.copy(ROOT / "experiments" / "heap" / "rl_programs.toml", family)
    (programs / "numpy_loop").mkdir(parents=True)
    shutil.copy(ROOT / "programs" / "rl_phase.py", programs)
    (programs / "numpy_loop" / "work.py").write_text(PROGRAM)
    (programs / "numpy_loop" / "program.toml").write_text(
        f"""
title = "numpy in a loop"
package = "python3"
experiment = "heap/rl_programs"
executables = []
version = ["{{python}}", "--version"]
command = ["{{python}}", "{{source}}/work.py"]
environment = {{ PYTHONPATH = "{{programs}}" }}
idle_s = {SLEEPS_S}
"""
    )
    return {"HEAPWISE_NATIVE": str(native), "HEAPWISE_PROGRAMS": str(programs)}


def test_idle_time_is_not_part_of_the_time_of_the_program(
    heapwise: Any, surroundings: dict[str, str], tmp_path: Path
) -> None:
    done = heapwise(
        *("run", "heap/rl_programs", "--rounds", "1", "--subjects", "malloc@heapwise", "--json"),
        env=surroundings,
    )
    result = json.loads(done.stdout)
    found = {
        (row["subject"], row["parameters"]["quantity"]): row["median"] for row in result["rows"]
    }
    store = tmp_path / "store"
    stored = read_run(store, run_ids(store)[-1])
    whole = {each.subject: float(each.facts.wall_s or 0) for each in stored.processes}
    for subject in ("malloc@glibc", "malloc@heapwise"):
        assert found[subject, "wall"] == pytest.approx(whole[subject] - SLEEPS_S)
        assert found[subject, "wall"] >= 1.0
        for quantity in ("end_memory", "after_idle"):
            assert 32 * MIB < found[subject, quantity] <= found[subject, "peak_resident"] * 1.1
