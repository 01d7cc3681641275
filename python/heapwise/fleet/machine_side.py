"""The part of a fleet run that happens on the machine: measure, or go on, and hand back.

A job may be started twice: its run folder has one name. The second start waits for the lock, finds
the run complete or resumes it, and hands back the same files. Whatever goes wrong, the journal that
was written so far is handed back with the reason.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from heapwise.catalog.added import SENT_VARIABLE
from heapwise.errors import Problem
from heapwise.fleet.host_lock import HostLock, lock_path
from heapwise.fleet.job import Job, JobOutcome, State
from heapwise.fleet.kept_document import KeptDocument
from heapwise.fleet.plan_progress import TOPIC, PlanProgress, RoundClock
from heapwise.fleet.sent_peers import kind_of_programs, place_peer
from heapwise.fleet.shipped import base_folder, find_shipped, place_of
from heapwise.model import FleetOrigin
from heapwise.store.location import SAMPLES_FILE
from heapwise.store.writer import write_atomically

LOOK_S = 1.0
TELL_S = 5.0
WAIT_S = 24 * 3600.0
OWN = "HEAPWISE_"
FULL_BYTES = 1 << 20
"""A disk with less room than this is named as the likely reason of a failure."""
PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from heapwise.cli import main; "
    "sys.argv[0] = 'heapwise'; main()"
)
"""Needs no PYTHONPATH, which measured processes would inherit."""


def measure(content: bytes) -> bytes:
    """The task of the engine: a ``Job`` in, an ``JobOutcome`` out. Never raises."""
    job = msgspec.msgpack.decode(content, type=Job)
    machine = MachineJob(job, tell_engine)
    try:
        outcome = machine.go()
    except Problem as problem:
        outcome = machine.outcome("failed", int(problem.exit), f"{problem.id} {problem.what}")
    except Exception as error:  # whatever it is, the journal has to be handed back with it
        words = f"{getattr(error, 'filename', None) or type(error).__name__}: {error}"
        outcome = machine.outcome("failed", 5, words + machine.why_full())
    return msgspec.msgpack.encode(outcome)


def tell_engine(progress: PlanProgress) -> None:
    """As an event of Dask. Says nothing if no worker runs this."""
    try:
        from distributed import get_worker

        get_worker().log_event(TOPIC, msgspec.to_builtins(progress))
    except (ImportError, ValueError):
        return


class MachineJob:
    """One job in its folder of the machine."""

    def __init__(self, job: Job, tell: Callable[[PlanProgress], None]) -> None:
        self.job = job
        self.tell = tell
        self.base = base_folder(job.folder)
        self.folder = self.base / "jobs" / job.run_id
        self.store = self.folder / "store"
        self.run_folder = self.store / "runs" / job.run_id
        self.document = KeptDocument(self.run_folder, self.folder)
        self._grown_at = time.monotonic()
        self._size = -1
        self._process: subprocess.Popen[bytes] | None = None

    def go(self) -> JobOutcome:
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = HostLock(lock_path())
        try:
            lock.acquire(WAIT_S, self._watch_stall)
            if self.document.mended_state() == "complete":
                return self._ended(0)
            peers = self.job.peers if self.job.kind == kind_of_programs() else []
            wanted = [*self.job.files, *(file for peer in peers for file in peer.files.values())]
            found = {file: find_shipped(file, self.base) for file in wanted}
            if missing := {file.sha256 for file, path in found.items() if path is None}:
                return self.outcome("waiting", 0, "it waits for a file", sorted(missing))
            places = {file: str(path) for file, path in found.items()}
            folders = [place_peer(peer, places, self.base) for peer in peers]
            return self._measure(
                lock,
                {file.word: places[file] for file in self.job.files},
                ":".join(map(str, folders)),
            )
        finally:
            lock.close()

    def outcome(
        self, state: State, code: int, message: str, missing: list[str] | None = None
    ) -> JobOutcome:
        """With all that is stored so far."""
        return JobOutcome(
            self.job.machine,
            state,
            code,
            message,
            self._files(),
            socket.gethostname(),
            missing or [],
            place_of(self.base),
        )

    def why_full(self) -> str:
        """ " (the disk ...)" if the disk has hardly any room, else ""."""
        try:
            free = shutil.disk_usage(self.folder).free
        except OSError:
            return ""
        return f" (the disk of {self.folder} has no room)" if free < FULL_BYTES else ""

    def _measure(self, lock: HostLock, places: Mapping[str, str], sent_peers: str) -> JobOutcome:
        origin = self.folder / "origin.json"
        _write_if_other(
            origin,
            msgspec.json.encode(
                FleetOrigin(self.job.fleet, self.job.machine, self.job.stored_environment)
            ),
        )
        working = Path(self.job.working_directory)
        if not working.is_dir():
            working = self.folder / "work"
            working.mkdir(exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            process = self._process = subprocess.Popen(
                [sys.executable, "-c", START, PACKAGE_ROOT, *self._words(places)],
                env=measuring_environment(self.job.environment, os.environ, origin)
                | {SENT_VARIABLE: sent_peers},
                cwd=working,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=[lock.descriptor],
            )
        try:
            (self.folder / "pid").write_text(str(process.pid))
        except OSError:  # a full disk: only another worker could not kill it
            (self.folder / "pid").unlink(missing_ok=True)
        self._watch(process)
        return self._ended(process.returncode)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Sleeps in the kernel until the process ends, except for a look each second."""
        begun = told = time.monotonic()
        clock = RoundClock(self.run_folder, begun)
        descriptor = os.pidfd_open(process.pid)
        try:
            while process.poll() is None:
                select.select([descriptor], [], [], LOOK_S)
                self._watch_stall()
                self.document.remember()
                now = time.monotonic()
                if now - told >= TELL_S:
                    told = now
                    if progress := clock.read(self.job.fleet, self.job.machine, now):
                        self.tell(progress)
        finally:
            os.close(descriptor)

    def _words(self, places: Mapping[str, str]) -> list[str]:
        if self.run_folder.is_dir():
            return ["resume", self.job.run_id, "--store", str(self.store), "--quiet"]
        verb, *rest = [places.get(word, word) for word in self.job.words]
        return [verb, "--store", str(self.store), "--quiet", *rest]

    def _watch_stall(self) -> None:
        """Kills the measuring process of this job if it has stored nothing for too long."""
        now, size = time.monotonic(), _size(self.run_folder / SAMPLES_FILE)
        if size != self._size:
            self._size, self._grown_at = size, now
        elif now - self._grown_at > self.job.stall_s:
            self._grown_at = now
            self._kill()

    def _kill(self) -> None:
        """Also one that an earlier worker started and that still has the lock."""
        try:
            pid = (
                self._process.pid
                if self._process is not None
                else int((self.folder / "pid").read_text())
            )
            if self.job.run_id in Path(f"/proc/{pid}/environ").read_text(errors="replace"):
                os.killpg(pid, signal.SIGKILL)
        except (OSError, ValueError):
            return

    def _ended(self, code: int) -> JobOutcome:
        self.document.remember()
        done = self.document.state() == "complete"
        message = "" if done else self._last_words(code)
        return self.outcome("complete" if done else "incomplete", code, message)

    def _last_words(self, code: int) -> str:
        try:
            lines = (self.folder / "log").read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f"ended with {code}: {' '.join(lines[-3:])[-500:]}{self.why_full()}"

    def _files(self) -> dict[str, bytes]:
        """The files of the run folder, and of those that could not go on, under ``torn``. Of the
        journal whole lines only: the writer cuts off a line that a full disk tore, and the client
        must not have seen it."""
        found = _contents(self.run_folder)
        if (lines := found.get(SAMPLES_FILE)) is not None:
            found[SAMPLES_FILE] = lines[: lines.rfind(b"\n") + 1]
        return found | {
            f"torn/{name}": content
            for name, content in _contents(self.document.torn_folder).items()
        }


def measuring_environment(
    captured: Mapping[str, str], of_worker: Mapping[str, str], origin: Path
) -> dict[str, str]:
    """The client's variables, and of the worker's only those that say where Heapwise's parts are;
    measured processes get none of these."""
    return (
        {name: value for name, value in captured.items() if not name.startswith(OWN)}
        | {name: value for name, value in of_worker.items() if name.startswith(OWN)}
        | {"HEAPWISE_FLEET_ORIGIN": str(origin)}
    )


def _write_if_other(path: Path, content: bytes) -> None:
    """A full disk does not hinder a job that has been here before."""
    if not path.exists() or path.read_bytes() != content:
        write_atomically(path, content)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _contents(folder: Path) -> dict[str, bytes]:
    """Without what cannot be read."""
    found = {}
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file():
                found[str(path.relative_to(folder))] = path.read_bytes()
        except OSError:
            continue
    return found
