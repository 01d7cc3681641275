"""Gives jobs to workers over one connection to a scheduler, and takes what comes back."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from heapwise.errors import Problem
from heapwise.fleet.engines.engines import Engine
from heapwise.fleet.fleet_file import FleetRun, MachineState
from heapwise.fleet.job import Job, JobOutcome, decode_outcome, encode_job
from heapwise.fleet.transfers import FileTransfers, Task

LOOK_S = 0.2
WORKERS_S = 1.0
"""Between two questions to the scheduler which workers it has; longer if the answer took long."""
ABSENT_S = 600.0
"""A machine without a worker for this long has failed."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0


def pause_s(failures: int, chance: random.Random) -> float:
    """Twice as long after each failure, and by half of that at random: machines that failed
    together do not come back together."""
    longest: float = min(FIRST_PAUSE_S * 2 ** max(0, failures - 1), LONGEST_PAUSE_S)
    return longest * chance.uniform(0.5, 1.0)


class FleetJobs(Protocol):
    """The jobs of a fleet run: the job of each machine, and how far it is.

    attempts: how often a job is given. task: what a worker does with it. resources: that a worker
    needs.
    """

    fleet: FleetRun
    states: dict[str, MachineState]
    jobs: Callable[[str], Job]
    task: Callable[[bytes], bytes]
    attempts: int
    resources: Mapping[str, int] | None

    def open(self) -> list[str]: ...

    def show(self) -> None: ...

    def join(self, name: str) -> None: ...

    def began(self, name: str) -> int: ...

    def keep(self, name: str, outcome: JobOutcome) -> bool: ...

    def note(self, name: str, **changes: Any) -> None: ...


class Dispatcher:
    """A job is given only to a worker that is connected, by its address. A name that the scheduler
    does not know yet would be taken for that of a host, and any worker of that host would do."""

    def __init__(self, campaign: FleetJobs, engine: Engine, client: Any) -> None:
        self.campaign, self.engine, self.client = campaign, engine, client
        self.known: dict[str, str] = {}
        self.running: dict[str, tuple[Any, str]] = {}
        self.due: dict[str, float] = {}
        self.transfers = FileTransfers(
            lambda task, content, address: self._submit(task, content, address, "file")
        )
        self._ended: set[str] = set()
        self._failures: dict[str, int] = {}
        self._seen_at: dict[str, float] = {}
        self._ask_at = 0.0
        self._chance = random.Random()

    def go(self) -> None:
        """Until no machine is left or the scheduler is gone."""
        now = time.monotonic()
        self.due = dict.fromkeys(self.campaign.open(), now)
        self._seen_at = dict.fromkeys(self.due, now)
        if self.engine.grows:
            self._look_at_workers()  # also if all known machines are complete
        while (self.due or self.running or self.transfers) and self.engine.is_alive():
            self._look_at_workers()
            self._give()
            self._take()
            self.campaign.show()
            time.sleep(LOOK_S)

    def _look_at_workers(self) -> None:
        begun = time.monotonic()
        if begun < self._ask_at:
            return
        self.known = {
            name: address
            for name, address in self.engine.machines(self.client).items()
            if address not in self._ended
        }
        ended = time.monotonic()
        self._ask_at = ended + max(WORKERS_S, 20 * (ended - begun))
        self._seen_at |= dict.fromkeys(self.known, ended)
        if self.engine.grows:
            self._let_join(ended)
        needed = {*self.due, *self.running}
        restarted = self.engine.mend(self.known.keys(), needed)
        # The scheduler goes on to name a worker that was stopped and is ended, for some seconds.
        self._ended |= {self.known.pop(name) for name in restarted if name in self.known}
        lost = {
            name
            for name, (future, address) in self.running.items()
            if not future.done() and self.known.get(name) != address
        }
        for name in restarted | lost:
            if name in self.running:
                self.running.pop(name)[0].cancel()
            self._again(name, self.engine.reasons.get(name, "its worker was lost"))
        for name in [name for name in self.due if ended - self._seen_at[name] > ABSENT_S]:
            self._give_up(name, self.engine.reasons.get(name, "it has no worker"))

    def _let_join(self, now: float) -> None:
        for name in self.known.keys() - self.campaign.states.keys():
            self.campaign.join(name)
            self.due[name] = now

    def _give(self) -> None:
        now = time.monotonic()
        for name in [name for name, at in self.due.items() if at <= now and name in self.known]:
            del self.due[name]
            attempt = self.campaign.began(name)
            address = self.known[name]
            self.running[name] = (
                self._submit(
                    self.campaign.task,
                    encode_job(self.campaign.jobs(name)),
                    address,
                    f"{name}-{attempt}",
                ),
                address,
            )

    def _take(self) -> None:
        for name, (future, address) in list(self.running.items()):
            if future.done():
                del self.running[name]
                self._take_one(name, future, address)
        for name, problem in self.transfers.arrived(set(self.known.values())).items():
            if problem:
                self._again(name, problem)
            else:
                self.due[name] = time.monotonic()

    def _take_one(self, name: str, future: Any, address: str) -> None:
        if future.status != "finished":
            self._again(name, f"the engine said {future.status}")
            return
        outcome: JobOutcome = decode_outcome(future.result())
        try:
            done = self.campaign.keep(name, outcome)
            if outcome.missing:
                self.transfers.bring(
                    self.campaign.jobs(name), outcome.place, outcome.missing, address
                )
            elif not done:
                self._again(name, outcome.message)
        except Problem as problem:
            if problem.id in ("E050", "E051"):
                raise  # the client's disk: the machines go on without it
            self._give_up(name, f"{problem.id} {problem.what}")

    def _again(self, name: str, reason: str) -> None:
        """After a pause, unless it failed too often over this connection."""
        failures = self._failures[name] = self._failures.get(name, 0) + 1
        if failures >= self.campaign.attempts:
            self._give_up(name, reason)
            return
        self.campaign.note(name, message=reason)
        self.due[name] = time.monotonic() + pause_s(failures, self._chance)

    def _give_up(self, name: str, reason: str) -> None:
        self.due.pop(name, None)
        self.campaign.note(name, state="failed", message=reason)

    def _submit(self, task: Task, content: bytes, address: str, mark: str) -> Any:
        key = f"{self.campaign.fleet.id}-{mark}-{self._chance.getrandbits(64):x}"
        return self.client.submit(
            task,
            content,
            key=key,
            workers=[address],
            allow_other_workers=False,
            resources=self.campaign.resources if task is self.campaign.task else None,
            pure=False,
        )
