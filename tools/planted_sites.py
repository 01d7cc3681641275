#!/usr/bin/env python3
"""Prints whether `heapwise advise` finds the call sites that tests/data/planted_sites plants.

    .venv/bin/python tools/planted_sites.py [NAME...]      about a minute a program

For each program: which candidate is first, what the replay says that it saves, and what the program
saves if it is built with -DPLANTED. Both are processor time, and wall time for programs of several
threads. Run it on a quiet machine. The C++ library is built with `cmake --build --preset release`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "tests" / "data" / "planted_sites"
LIBRARY = ROOT / "build" / "release" / "src" / "libheapwise.a"
PAIRS = 30
ROUNDS = "20"
ADVISE = [sys.executable, "-m", "heapwise", "advise"]


@dataclass(frozen=True)
class Planted:
    """policy: what should be first; "" if nothing is to gain. threads: are there several?"""

    name: str
    policy: str
    threads: bool = False


PROGRAMS = [
    Planted("queue", "unsynchronized"), Planted("messages", "unsynchronized"),
    Planted("index", "unsynchronized"), Planted("strings", "sized"), Planted("requests", "arena"),
    Planted("parser", "arena"), Planted("hand_over", "thread_cached", True),
    Planted("short_threads", "", True), Planted("compute", ""), Planted("growing", ""),
]


def build(name: str, folder: Path, *, changed: bool) -> Path:
    program = folder / (f"{name}-changed" if changed else name)
    more = ["-DPLANTED", f"-I{ROOT / 'include'}", str(LIBRARY)] if changed else []
    subprocess.run(["c++", "-O2", "-g", "-std=c++20", "-pthread", str(SOURCES / f"{name}.cpp"),
                    *more, "-o", str(program)], check=True)
    return program


def seconds(program: Path, *, wall: bool) -> float:
    begin = time.perf_counter()
    process = subprocess.Popen([str(program)])
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.perf_counter() - begin if wall else usage.ru_utime + usage.ru_stime


def gained(before: Path, after: Path, *, wall: bool) -> float:
    """Seconds: the median difference of pairs that run one after the other."""
    return statistics.median(seconds(before, wall=wall) - seconds(after, wall=wall)
                             for _ in range(PAIRS))


def advised(program: Path, folder: Path) -> dict[str, Any]:
    trace = folder / f"{program.name}.hwt"
    store = str(folder / "store")
    subprocess.run([sys.executable, "-m", "heapwise", "record", "-o", str(trace), "--",
                    str(program)], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([*ADVISE, str(trace), "--json", "--rounds", ROUNDS, "--store", store],
                          capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def first_gain(found: dict[str, Any]) -> tuple[str, str, float]:
    """Policy, place and seconds of the candidate whose gain is the largest; ("", "", 0) if none
    gains."""
    if "run" not in found or not found["advice"].startswith(tuple("123456789")):
        return "", "", 0.0
    replay = found["run"]["plan"]["options"]["replay"]
    rows = {row["subject"]: row for row in found["rows"]
            if row["parameters"]["quantity"] == replay["quantity"]}
    line = found["headlines"][0]
    each = min((c for c in replay["candidates"] if line.startswith(c["place"])),
               key=lambda c: rows[c["subject"]]["ratio"] or 1)
    saved = rows["as_recorded"]["median"] - rows[each["subject"]]["median"]
    return each["policy"], each["place"], saved * replay["calls"] / 1e9


def main() -> None:
    wanted = sys.argv[1:]
    print("| program | planted | first | predicted ms | gained ms | predicted/gained |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in PROGRAMS:
            if wanted and program.name not in wanted:
                continue
            before = build(program.name, folder, changed=False)
            after = build(program.name, folder, changed=True)
            policy, place, predicted = first_gain(advised(before, folder))
            real = gained(before, after, wall=program.threads)
            ratio = f"{predicted / real:.2f}" if policy and real else "–"
            print(f"| {program.name} | {program.policy or 'nothing'} | {policy or 'nothing'} "
                  f"{place} | {predicted * 1e3:.1f} | {real * 1e3:.1f} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
