"""Real programs with planted call sites: what the advice finds, and whether following it slows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from planted_sites.advice import advised, first_gain, is_right
from planted_sites.programs import LIBRARY, PROGRAMS, ROOT, Planted, build

LONG = os.environ.get("HEAPWISE_TIER") == "long"

pytestmark = pytest.mark.alone


def compared(program: Planted, folder: Path) -> dict[str, Any]:
    """The row of the changed program beside the other, in a comparison of 30 rounds."""
    programs = [build(program.name, folder, changed=changed) for changed in (False, True)]
    quantity = "wall_time" if program.threads else "cpu_time"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "heapwise", "compare", "-n", "plain", "-n", "changed"),
            *("-r", "30", "--json", "--store", str(folder / "store"), *map(str, programs)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    rows = json.loads(done.stdout)["rows"]
    [row] = [
        row
        for row in rows
        if row["subject"] == "changed" and row["parameters"]["quantity"] == quantity
    ]
    return dict(row)


@pytest.mark.skipif(not LONG, reason="ten minutes: make test-long")
def test_following_the_advice_slows_no_program(tmp_path: Path) -> None:
    """Times depend on the machine; that the advice does no harm does not."""
    if not LIBRARY.exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
        subprocess.run(
            ["cmake", "--build", "--preset", "release", "--target", "heapwise_static"],
            cwd=ROOT,
            check=True,
        )
    right = 0
    for program in PROGRAMS:
        plain = build(program.name, tmp_path, changed=False)
        advice = first_gain(advised([str(plain)], tmp_path, 20))
        right += is_right(program, advice)
        if advice.policy:
            low = compared(program, tmp_path)["ratio_low"]
            assert low is None or low <= 1.01, program.name
    assert right >= 7
