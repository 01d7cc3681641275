"""The laboratory reads hostile stored files and command lines without a fault of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FUZZER = Path(__file__).parent / "laboratory" / "fuzz.py"
FUZZ_TIME_S = int(os.environ.get("HEAPWISE_TEST_FUZZ_S", "20"))
SHORT_S = 60
LEAST_CASES = 10
"""In twenty seconds on a busy machine; an idle one does twenty times as many."""


def fuzz(*words: object, limit_s: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(FUZZER), *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit_s,
    )


def test_changed_stores_and_odd_commands() -> None:
    """A short time tries the same cases each time; more than a minute tries new ones."""
    first = 0 if FUZZ_TIME_S <= SHORT_S else int(time.time()) * 1000
    done = fuzz("--seconds", FUZZ_TIME_S, "--first", first, limit_s=FUZZ_TIME_S + 240)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    found = re.search(r"(\d+) cases, ", done.stdout)
    assert found, done.stdout
    assert int(found[1]) > LEAST_CASES


def test_a_fault_is_found_and_its_seed_repeats_it(tmp_path: Path) -> None:
    """A verb with faults of each kind, in a fuzzer whose cases all call it."""
    script = tmp_path / "planted.py"
    script.write_text(f"""
import sys
sys.path.insert(0, {str(FUZZER.parent)!r})
import pathlib
import fuzz
from heapwise.cli.frame import app

def faulty(words):
    kind = sum(map(len, words)) % 4
    if kind == 0:
        raise KeyError("planted")
    if kind == 1:
        pathlib.Path("planted").write_text("in the working folder")
        return 0
    if kind == 2:
        print("fault.py:1: RuntimeWarning: planted", file=sys.stderr)
        return 0
    return 70

app.run = faulty
sys.exit(fuzz.main())
""")
    done = subprocess.run(
        [sys.executable, str(script), "--seconds", "30"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    for words in (
        "an exception came out",
        "KeyError: 'planted'",
        "writes ",
        "Python speaks",
        "exit code 70",
    ):
        assert words in done.stdout, words
    seed = re.search(r"again: .* --case (\d+)", done.stdout)
    assert seed
    again = subprocess.run(
        [sys.executable, str(script), "--case", seed[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert again.returncode == 1
