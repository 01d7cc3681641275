"""The same comparison under a worker and without one, sample by sample.

Both measure the same plan at once, and the measured program waits at a gate until it is its turn:
one sample without a worker, the same one under a worker, and so on. Client, scheduler and worker
are stopped while a sample without a worker is taken, so that it has a machine without an engine.
What they catch up with falls in the next sample under the worker. Two neighbours in time are
compared, so that what drifts does not matter.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from heapwise.store import read_run

GATE = Path(__file__).with_name("gate.pl")
PROGRAM = (
    "/usr/bin/perl",
    "-e",
    'my %h; for (1..24) { %h = (); $h{$_} = "x" x ($_ % 90) for 1..20000 }',
)
ALLOCATORS = "glibc,heapwise"
SEED = "11"
"""The order of the subjects is the same on both sides."""
WAIT_S = 60.0
OF_ONE_RUN = re.compile(r"/heapwise-scratch-\w+|:[0-9a-f]{16}\b")
"""Names of temporary files and numbers of inodes, which no two runs share."""
SIDES = ("alone", "worker")


class Taken(msgspec.Struct, frozen=True):
    """One run of the program. conditions: what a process inherits, by name."""

    seconds: float
    cpu_s: float
    minor_faults: int
    conditions: dict[str, str] = {}


class Pair(msgspec.Struct, frozen=True):
    """The same step of both plans. differing: conditions that were not the same."""

    subject: str
    round: int
    alone: Taken
    worker: Taken
    differing: list[str] = []


class Gates:
    """Two named pipes for each side: its turn, and what its program took."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.turns: dict[str, int] = {}
        self.answers: dict[str, int] = {}
        for side in SIDES:
            for name in (f"{side}.turn", f"{side}.answer"):
                os.mkfifo(folder / name)
            self.turns[side] = os.open(folder / f"{side}.turn", os.O_RDWR | os.O_CLOEXEC)
            self.answers[side] = os.open(folder / f"{side}.answer", os.O_RDWR | os.O_CLOEXEC)

    def take(self, side: str) -> Taken | None:
        """Lets one run of the program begin; None if none came to the gate."""
        os.write(self.turns[side], b"\n")
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self.answers[side]], [], [], WAIT_S)[0]:
                return None
            text += os.read(self.answers[side], 1 << 16)
        return msgspec.json.decode(text, type=Taken)


def measure_pairs(folder: Path, seconds: float, rounds: int) -> list[Pair]:
    """For this long at most. SystemExit if the two plans were not the same step by step."""
    taken = _taken(folder, seconds, rounds)
    plans = [
        _steps(next(folder.glob(runs)))[: len(taken)]
        for runs in ("alone/runs/*", "machine/jobs/*/store/runs/*")
    ]
    alone = [step for step, other in zip(*plans, strict=False) if step == other]
    if not alone or len(alone) != min(map(len, plans)):
        raise SystemExit("error: the two plans were not the same")
    return [
        Pair(step.subject, step.round, _bare(one), _bare(other), _differing(one, other))
        for step, (one, other) in zip(alone, taken, strict=False)
        if not step.counting
    ]


class _Step(msgspec.Struct, frozen=True):
    subject: str
    round: int
    counting: bool


def _steps(run: Path) -> list[_Step]:
    """In the order in which they came to the gate."""
    processes = read_run(run.parents[1], run.name).processes
    return [
        _Step(p.subject, p.round, bool(p.facts.counting)) for p in processes if p.status == "ok"
    ]


def _bare(taken: Taken) -> Taken:
    return msgspec.structs.replace(taken, conditions={})


def _differing(one: Taken, other: Taken) -> list[str]:
    return [
        name
        for name in sorted({*one.conditions, *other.conditions})
        if OF_ONE_RUN.sub("", one.conditions.get(name, ""))
        != OF_ONE_RUN.sub("", other.conditions.get(name, ""))
    ]


def _taken(folder: Path, seconds: float, rounds: int) -> list[tuple[Taken, Taken]]:
    gates, until = Gates(folder), time.monotonic() + seconds
    found: list[tuple[Taken, Taken]] = []
    with ExitStack() as stack:
        alone = stack.enter_context(_measuring(folder, "alone", rounds))
        worker = stack.enter_context(_measuring(folder, "worker", rounds))
        while time.monotonic() < until and alone.poll() is None and worker.poll() is None:
            pair = _one_pair(gates, worker, worker_first=len(found) % 2 == 1)
            if pair is None:
                break
            found.append(pair)
    return found


def _one_pair(
    gates: Gates, client: subprocess.Popen[bytes], *, worker_first: bool
) -> tuple[Taken, Taken] | None:
    taken = {
        side: _one(gates, client, side) for side in (reversed(SIDES) if worker_first else SIDES)
    }
    if taken["alone"] is None or taken["worker"] is None:
        return None
    return taken["alone"], taken["worker"]


def _one(gates: Gates, client: subprocess.Popen[bytes], side: str) -> Taken | None:
    engine = _engine_of(client.pid)
    number = signal.SIGSTOP if side == "alone" else signal.SIGCONT
    for pid in engine if side == "alone" else reversed(engine):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return gates.take(side)


def _engine_of(client: int) -> list[int]:
    """The client, the scheduler and the worker; the client first, as it would take a stopped
    worker for a broken one."""
    return [client, *(pid for pid, words in _children(client) if b"heapwise.fleet." in words)]


def _children(parent: int) -> Iterator[tuple[int, bytes]]:
    with suppress(OSError):
        for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            with suppress(OSError):
                yield int(pid), Path(f"/proc/{pid}/cmdline").read_bytes()


@contextmanager
def _measuring(folder: Path, side: str, rounds: int) -> Iterator[subprocess.Popen[bytes]]:
    with (
        (folder / f"{side}.log").open("wb") as log,
        subprocess.Popen(
            _words(folder, side, rounds),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ
            | {
                "HEAPWISE_FLEET_FOLDER": str(folder / "machine"),
                "PERL_HASH_SEED": "0",
                "HEAPWISE_FLEET_LOCK": str(folder / "host-lock"),
            },
        ) as process,
    ):
        try:
            yield process
        finally:
            _end(process, folder)


def _words(folder: Path, side: str, rounds: int) -> Sequence[str]:
    fleet = []
    if side == "worker":
        (folder / "hosts.toml").write_text('one = "local"\n')
        fleet = ["--fleet", str(folder / "hosts.toml")]
    return [
        sys.executable,
        "-m",
        "heapwise",
        "compare",
        *fleet,
        "--store",
        str(folder / side),
        "--rounds",
        str(rounds),
        "--warmup",
        "0",
        "--seed",
        SEED,
        "--timeout",
        "300",
        "--allocators",
        ALLOCATORS,
        "--quiet",
        "--",
        "/usr/bin/perl",
        str(GATE),
        str(folder),
        *PROGRAM,
    ]


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    """At once: all samples are stored. Also the measuring process of a worker, which has a session
    of its own; scheduler and worker end with the client."""
    for pid in _engine_of(process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for path in folder.glob("machine/jobs/*/pid"):
        with suppress(ProcessLookupError, ValueError):
            os.killpg(int(path.read_text()), signal.SIGKILL)
