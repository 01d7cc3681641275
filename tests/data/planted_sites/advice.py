"""What `heapwise advise` says first of a program with a planted site."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planted_sites.programs import Planted, is_planted


@dataclass(frozen=True)
class Advice:
    """policy, place: of the candidate whose gain is the largest; "" if none gains. seconds:
    predicted for the whole run."""

    policy: str
    place: str
    seconds: float


def is_right(program: Planted, advice: Advice) -> bool:
    """Whether the advice is the planted one. If nothing is to gain, it must claim no gain."""
    return advice.policy == program.policy and (
        not program.policy or is_planted(advice.place, program)
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


def first_gain(found: dict[str, Any]) -> Advice:
    """The candidate that the advice names first."""
    if "run" not in found or not found["advice"].startswith(tuple("123456789")):
        return Advice("", "", 0.0)
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
    return Advice(
        each["policy"],
        " and ".join([each["place"], *each["others"]]),
        saved * replay["calls"] / 1e9,
    )
