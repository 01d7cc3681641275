"""What looking at memory costs the program that is looked at: with and without, in turns.

    PYTHONPATH=tools:python .venv/bin/python -m servers.sampling        30 rounds, about 4 minutes

Each round starts the same program four times in random order: twice without looks (A and A), once
with as many as a server gets, and once with as many from each of 20 launchers at once. The last
one makes the cost 20 times as large, so that it shows in the noise; one launcher costs a twentieth.
The program touches 200 MiB and then works on it for about a second; in that time nothing but
resident sizes is read. --steps 400000000 makes it seven seconds, with counts of all pages.
Results of --rounds N and --results FILE are added to what the file holds, so the rounds can be
taken in pieces.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from heapwise.catalog import LAUNCHER, native_part
from heapwise.machine import read_machine
from heapwise.runner.servers.server_executor import MOMENTS
from heapwise.stats.student import mean_interval

AIM = 0.001
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { size = 200 << 20, steps = STEPS };
int main(void) {
  unsigned char* block = malloc(size);
  memset(block, 1, size);
  unsigned long long sum = 0, place = 12345;
  for (long i = 0; i < steps; ++i) {
    place = place * 6364136223846793005ull + 1442695040888963407ull;
    sum += block[(place >> 33) % size]++;
  }
  printf("%llu\n", sum);
  return 0;
}
"""
STEPS = 60_000_000
"""About a second and more of accesses all over the memory."""

WATCHERS = 20
CROWD = f"looked at by {WATCHERS}"
WAYS = ("plain", "plain again", "looked at", CROWD)
NUMBERS = {"plain again": 1, "looked at": 1, CROWD: WATCHERS}
"""Of the ways that are compared with the plain one: by how many launchers the cost is divided."""

START_S = 5.0


def main() -> None:
    options = _options()
    kept = json.loads(options.results.read_text()) if options.results.exists() else {"rounds": []}
    with tempfile.TemporaryDirectory() as name:
        program = _built(Path(name), options.steps)
        for _ in range(options.rounds):
            order = random.sample(WAYS, len(WAYS))
            kept["rounds"].append({way: _facts(program, way, Path(name)) for way in order})
    found = read_machine()
    kept["machine"] = f"{found.cpu}, {found.cores} processors, {found.kernel}"
    kept["load_average"] = round(max(kept.get("load_average", 0.0), os.getloadavg()[0]), 1)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(json.dumps(kept))
    print("\n".join(table(kept)))


def table(kept: dict[str, object]) -> list[str]:
    """As Markdown. rounds: for each way the wall and processor time of the program in seconds, and
    the launcher's share of the time."""
    rounds = kept["rounds"]
    assert isinstance(rounds, list)
    lines = [
        f"{len(rounds)} rounds on {kept.get('machine')}, load average at most "
        f"{kept.get('load_average')}",
        "",
        "| what | time | 95 % interval | aim |",
        "| --- | --- | --- | --- |",
    ]
    for quantity in ("wall_s", "cpu_s"):
        for way, number in NUMBERS.items():
            logs = [
                math.log(each[way][quantity] / each["plain"][quantity]) / number
                for each in rounds
                if way in each
            ]
            found = mean_interval(logs)
            if found is None:
                continue
            part = f", divided by {number}" if number > 1 else ""
            aim = "" if way == "plain again" else f"at most +{100 * AIM:g} %"
            lines.append(
                f"| {way} over plain{part}, {quantity} | {_percent(found.mean)} | "
                f"{_percent(found.low)} to {_percent(found.high)} | {aim} |"
            )
    shares = [each["looked at"]["share"] for each in rounds]
    lines.append(
        f"| launcher's processor time over the program's time | "
        f"{100 * sum(shares) / len(shares):.3f} % | most {100 * max(shares):.3f} % | "
        f"at most {100 * AIM:g} % |"
    )
    return lines


def _percent(log_ratio: float) -> str:
    return f"{100 * math.expm1(log_ratio):+.3f} %"


def _built(folder: Path, steps: int) -> Path:
    program = folder / "touch"
    (folder / "touch.c").write_text(PROGRAM)
    subprocess.run(
        ["cc", "-O2", f"-DSTEPS={steps}", "-o", str(program), str(folder / "touch.c")], check=True
    )
    return program


def _facts(program: Path, way: str, folder: Path) -> dict[str, float]:
    moments = str(MOMENTS if way == "looked at" else 0)
    result = folder / "result"
    words = [
        str(native_part(LAUNCHER)),
        "--memory-moments",
        moments,
        "--cpus",
        "0",
        "--result",
        str(result),
        "--",
        str(program),
    ]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as launcher:
        watchers = _watchers(_program_of(launcher.pid), folder) if way == CROWD else []
        launcher.wait()
        for watcher in watchers:
            watcher.wait()
    facts = json.loads(result.read_text())
    cost = facts["memory"]["cost_ns"] if facts["memory"] else 0
    return {
        "wall_s": facts["wall_s"],
        "cpu_s": facts["user_s"] + facts["system_s"],
        "share": cost / 1e9 / facts["wall_s"],
    }


def _program_of(launcher: int) -> int:
    """The process that the launcher has started."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children")
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        for pid in children.read_text().split():
            if Path(f"/proc/{pid}/comm").read_text() == "touch\n":
                return int(pid)
    raise SystemExit("the launcher has not started the program")


def _watchers(program: int, folder: Path) -> list[subprocess.Popen[bytes]]:
    """They end with the program. On another processor than it, if there is one."""
    others = sorted(os.sched_getaffinity(0))[1:]
    on = ["taskset", "--cpu-list", ",".join(map(str, others))] if others else []
    return [
        subprocess.Popen(
            [
                *on,
                str(native_part(LAUNCHER)),
                "--attach",
                str(program),
                "--timeout",
                "600",
                "--memory-moments",
                str(MOMENTS),
                "--result",
                str(folder / f"result-{number}"),
            ],
            stdin=subprocess.DEVNULL,
        )
        for number in range(WATCHERS)
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m servers.sampling", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=STEPS, help="of the program")
    parser.add_argument("--results", type=Path, default=Path("build/sampling-cost.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
