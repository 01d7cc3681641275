"""What `heapwise advise` says of a program, and what the changed program gains."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from heapwise.stats.paired import paired_ratio
from other_work import other_work
from planted_sites.programs import Planted, build


class Found(msgspec.Struct, frozen=True):
    """policy, place: of the candidate whose gain is the largest; "" if none gains. seconds:
    predicted for the whole run. said: the advice in one sentence."""

    policy: str
    place: str
    seconds: float
    said: str


class Judged(msgspec.Struct, frozen=True):
    """One program. gained_s: median of the pairs, with the changed program; above 0 it is faster.
    ratio, low, high: of the changed program's time to the other's, with its 95 % interval; None of
    too few pairs. other_work: tasks that ran before, besides this one."""

    found: Found
    gained_s: float
    ratio: float
    low: float | None
    high: float | None
    pairs: int
    other_work: float


def judge(
    program: Planted, folder: Path, *, rounds: int, pairs: int, arguments: list[str]
) -> Judged:
    """rounds: of the replays. pairs: of the two programs. arguments: of the programs."""
    busy = other_work()
    before = build(program.name, folder, changed=False)
    after = build(program.name, folder, changed=True)
    found = first_gain(advised([str(before), *arguments], folder, rounds))
    old: list[float] = []
    new: list[float] = []
    for number in range(pairs):
        both = [(before, old), (after, new)]
        for binary, times in both if number % 2 == 0 else reversed(both):
            times.append(_seconds([str(binary), *arguments], wall=program.threads))
    differences = sorted(a - b for a, b in zip(old, new, strict=True))
    ratio = paired_ratio(new, old)
    return Judged(
        found, differences[len(differences) // 2], ratio.ratio, ratio.low, ratio.high, pairs, busy
    )


def advised(command: list[str], folder: Path, rounds: int) -> dict[str, Any]:
    """What `heapwise advise --json` says of a trace of the command."""
    trace = folder / f"{Path(command[0]).name}.hwt"
    heapwise = [sys.executable, "-m", "heapwise"]
    subprocess.run(
        [*heapwise, "record", "-o", str(trace), "--", *command],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # Two threads that were recorded on many processors are played on what there is.
    done = subprocess.run(
        [
            *heapwise,
            "advise",
            str(trace),
            "--force",
            "--json",
            "--rounds",
            str(rounds),
            "--store",
            str(folder / "store"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def first_gain(found: dict[str, Any]) -> Found:
    """The candidate that the advice names first."""
    if "run" not in found or not found["advice"].startswith(tuple("123456789")):
        return Found("", "", 0.0, found["advice"])
    replay = found["run"]["plan"]["options"]["replay"]
    rows = {
        row["subject"]: row
        for row in found["rows"]
        if row["parameters"]["quantity"] == replay["quantity"]
    }
    line = found["headlines"][0]
    each = min(
        (c for c in replay["candidates"] if line.startswith(c["place"])),
        key=lambda c: rows[c["subject"]]["ratio"] or 1,
    )
    saved = rows["as_recorded"]["median"] - rows[each["subject"]]["median"]
    return Found(
        each["policy"],
        " and ".join([each["place"], *each["others"]]),
        saved * replay["calls"] / 1e9,
        found["advice"],
    )


def _seconds(command: list[str], *, wall: bool) -> float:
    begin = time.perf_counter()
    process = subprocess.Popen(command)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.perf_counter() - begin if wall else usage.ru_utime + usage.ru_stime
