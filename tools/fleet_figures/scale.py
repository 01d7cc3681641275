"""How a fleet run grows with the number of its machines: one process for each number."""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from fleet_figures.simulated import FLEET, job_in, simulate
from heapwise.fleet.job import JobOutcome

COUNTS = (10, 30, 100, 300, 1000)
COMPARE = ("compare", "--rounds", "6", "--allocators", "glibc,heapwise", "--", "/bin/true")
OPENINGS = 5


class Growth(msgspec.Struct, frozen=True):
    """Of one number of machines. collect_s: from the first message to the last stored run. page_s:
    analysis of all runs, the tables and the page. peak_bytes: of client, scheduler and workers,
    which are one process here. open_s: how much longer a browser takes for the page than for an
    empty one; None without a browser."""

    machines: int
    collect_s: float
    page_s: float
    peak_bytes: int
    page_bytes: int
    open_s: float | None


def measure_growth(counts: tuple[int, ...] = COUNTS) -> list[Growth]:
    """The same real run comes back from each machine, under the machine's name."""
    with tempfile.TemporaryDirectory(prefix="heapwise-fleet-figures-") as folder:
        run = _real_run(Path(folder))
        return [_in_process(run, Path(folder) / f"store-{count}", count) for count in counts]


def _real_run(folder: Path) -> Path:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "heapwise",
            *COMPARE[:1],
            "--store",
            str(folder / "real"),
            *COMPARE[1:],
        ],
        capture_output=True,
        check=False,
    )
    found = sorted((folder / "real/runs").glob("*"))
    if not found:
        raise SystemExit(f"error: nothing was measured: {done.stderr.decode()}")
    return found[-1]


def _in_process(run: Path, store: Path, count: int) -> Growth:
    """A process of its own, since the peak of a process never falls."""
    done = subprocess.run(
        [sys.executable, "-m", "fleet_figures.scale", str(run), str(store), str(count)],
        stdout=subprocess.PIPE,
        check=True,
    )
    found = msgspec.json.decode(done.stdout, type=Growth)
    return msgspec.structs.replace(
        found, open_s=opening_s(store / "fleet" / FLEET / "by-machine.html")
    )


def opening_s(page: Path) -> float | None:
    """Median over ``OPENINGS``; None without Chromium."""
    browser = shutil.which("chromium")
    if browser is None:
        return None
    differences = []
    for _ in range(OPENINGS):
        empty, full = (_seconds(browser, where) for where in ("about:blank", page.as_uri()))
        differences.append(full - empty)
    return sorted(differences)[OPENINGS // 2]


def _seconds(browser: str, where: str) -> float:
    begun = time.monotonic()
    subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1300,900",
            "--screenshot=/dev/null",
            where,
        ],
        capture_output=True,
        check=True,
    )
    return time.monotonic() - begun


def _files_of(run: Path) -> Callable[[str], dict[str, bytes]]:
    document = json.loads((run / "run.json").read_bytes())
    samples = (run / "samples.jsonl").read_bytes()

    def files(machine: str) -> dict[str, bytes]:
        options = document["plan"]["options"] | {
            "fleet": {"fleet": FLEET, "machine": machine, "environment": {}}
        }
        changed = document | {
            "id": f"{FLEET}-{machine}",
            "plan": document["plan"] | {"options": options},
        }
        return {"run.json": json.dumps(changed).encode(), "samples.jsonl": samples}

    return files


def _measure_one(run: Path, store: Path, count: int) -> Growth:
    from heapwise.cli.frame.console import Console
    from heapwise.cli.frame.fleet_form import show_fleet

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    files = _files_of(run)

    def stub(content: bytes) -> bytes:
        name = job_in(content).machine
        return msgspec.msgpack.encode(JobOutcome(name, "complete", 0, "", files(name)))

    file, fleet, collect_s = simulate(store, count, stub)
    begun = time.monotonic()
    show_fleet(fleet, file, store, Console(quiet=True, as_json=True))
    page_s = time.monotonic() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return Growth(
        count, collect_s, page_s, peak, file.path.with_name("by-machine.html").stat().st_size, None
    )


if __name__ == "__main__":
    from contextlib import redirect_stdout

    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        growth = _measure_one(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.buffer.write(msgspec.json.encode(growth))
