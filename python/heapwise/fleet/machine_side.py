"""The part of a fleet run that happens on the machine: measure, or go on, and hand back.

A job may be started twice: its run folder has one name. The second start waits for the lock, finds
the run complete or resumes it, and hands back the same files.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.fleet.host_lock import HostLock, lock_path
from heapwise.fleet.job import Job, Outcome, ShippedFile
from heapwise.model import FleetOrigin

LOOK_S = 0.2
WAIT_S = 24 * 3600.0
OURS = "HEAPWISE_"
FOLDER_VARIABLE = "HEAPWISE_FLEET_FOLDER"
PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
START = ("import sys; sys.path.insert(0, sys.argv.pop(1)); from heapwise.cli import main; "
         "sys.argv[0] = 'heapwise'; main()")
"""Needs no PYTHONPATH, which measured processes would inherit."""


def measure(content: bytes) -> bytes:
    """The task of the engine: a ``Job`` in, an ``Outcome`` out. Never raises."""
    job = msgspec.msgpack.decode(content, type=Job)
    try:
        outcome = MachineJob(job).go()
    except Problem as problem:
        outcome = Outcome(job.machine, "failed", int(problem.exit), f"{problem.id} {problem.what}")
    except OSError as error:
        outcome = Outcome(job.machine, "failed", 5, f"{error.filename or ''}: {error.strerror}")
    return msgspec.msgpack.encode(outcome)


class MachineJob:
    """One job in its folder of the machine."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.base = _base_folder(job.folder)
        self.folder = self.base / "jobs" / job.run_id
        self.store = self.folder / "store"
        self.run_folder = self.store / "runs" / job.run_id
        self._grown_at = time.monotonic()
        self._size = -1

    def go(self) -> Outcome:
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = HostLock(lock_path())
        try:
            lock.acquire(WAIT_S, self._watch_stall)
            if self._state() != "complete":
                return self._measure(lock)
        finally:
            lock.close()
        return self._outcome(0)

    def _measure(self, lock: HostLock) -> Outcome:
        places = {file.word: _place(file, self.base) for file in self.job.files}
        origin = self.folder / "origin.json"
        origin.write_bytes(msgspec.json.encode(FleetOrigin(
            self.job.fleet, self.job.machine, self.job.stored_environment)))
        working = Path(self.job.working_directory)
        if not working.is_dir():
            working = self.folder / "work"
            working.mkdir(exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", START, PACKAGE_ROOT, *self._words(places)],
                env=measuring_environment(self.job.environment, os.environ, origin),
                cwd=working, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, pass_fds=[lock.descriptor])
        (self.folder / "pid").write_text(str(process.pid))
        while True:
            try:
                return self._outcome(process.wait(LOOK_S))
            except subprocess.TimeoutExpired:
                self._watch_stall()

    def _words(self, places: Mapping[str, str]) -> list[str]:
        if self.run_folder.is_dir():
            return ["resume", self.job.run_id, "--store", str(self.store), "--quiet"]
        verb, *rest = [places.get(word, word) for word in self.job.words]
        return [verb, "--store", str(self.store), "--quiet", *rest]

    def _state(self) -> str:
        """"" if the run has not begun. A torn or missing run.json cannot be: it is renamed."""
        try:
            return str(json.loads((self.run_folder / "run.json").read_bytes())["state"])
        except FileNotFoundError:
            return ""

    def _watch_stall(self) -> None:
        """Kills the measuring process of this job if it has stored nothing for too long."""
        now, size = time.monotonic(), _size(self.run_folder / "samples.jsonl")
        if size != self._size:
            self._size, self._grown_at = size, now
        elif now - self._grown_at > self.job.stall_s:
            self._grown_at = now
            self._kill()

    def _kill(self) -> None:
        try:
            pid = int((self.folder / "pid").read_text())
            if self.job.run_id in Path(f"/proc/{pid}/environ").read_text(errors="replace"):
                os.killpg(pid, signal.SIGKILL)
        except (OSError, ValueError):
            return

    def _outcome(self, code: int) -> Outcome:
        done = self._state() == "complete"
        message = "" if done else self._last_words(code)
        return Outcome(self.job.machine, "complete" if done else "incomplete", code, message,
                       _files(self.run_folder), socket.gethostname())

    def _last_words(self, code: int) -> str:
        lines = (self.folder / "log").read_text(errors="replace").strip().splitlines()
        return f"ended with {code}: {' '.join(lines[-3:])[-500:]}"


def measuring_environment(
    captured: Mapping[str, str], of_worker: Mapping[str, str], origin: Path
) -> dict[str, str]:
    """The client's variables, and of the worker's only those that say where Heapwise's parts are;
    measured processes get none of these."""
    return ({name: value for name, value in captured.items() if not name.startswith(OURS)}
            | {name: value for name, value in of_worker.items() if name.startswith(OURS)}
            | {"HEAPWISE_FLEET_ORIGIN": str(origin)})


def _base_folder(given: str) -> Path:
    folder = given or os.environ.get(FOLDER_VARIABLE) or "~/.local/share/heapwise/fleet"
    return Path(folder).expanduser()


def _place(file: ShippedFile, base: Path) -> str:
    """Where this machine has a file of the hash. Problem E010 if it has none."""
    if _sha256(Path(file.path)) == file.sha256:
        return file.path
    path = base / "files" / file.sha256 / Path(file.path).name
    if _sha256(path) == file.sha256:
        return str(path)
    if not file.content:
        raise Problem("E010", f"{file.path} is not on this machine, or is another file",
                      why="It is too large to be sent.", do="copy it there under the same path")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(file.content)
    part.chmod(0o700 if file.executable else 0o600)
    part.replace(path)
    return str(path)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}
