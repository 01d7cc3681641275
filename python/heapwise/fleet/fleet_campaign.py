"""A fleet run: each machine gets its job, and again if it fails, until each is complete or given
up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import structs

from heapwise.errors import Problem
from heapwise.fleet.collected import keep, mend
from heapwise.fleet.engines.dispatcher import LOOK_S, Dispatcher, pause_s
from heapwise.fleet.engines.engines import Engine
from heapwise.fleet.fleet_file import FleetFile, FleetRun, MachineState
from heapwise.fleet.job import Job, JobOutcome
from heapwise.fleet.machine_side import measure
from heapwise.fleet.plan_progress import TOPIC, PlanProgress

ATTEMPTS = 4
MACHINES_S = 60.0


class FleetWatcher(Protocol):
    def machines(
        self,
        states: Mapping[str, MachineState],
        progress: Mapping[str, PlanProgress],
        elapsed_s: float,
    ) -> None: ...


class FleetCampaign:
    """One fleet run from its file. ``go`` may be called again, also by another process.

    task: what a worker does; a test puts another in its place.
    """

    def __init__(
        self,
        file: FleetFile,
        store: Path,
        jobs: Callable[[str], Job],
        open_engine: Callable[[], Engine],
        watcher: FleetWatcher,
        attempts: int = ATTEMPTS,
        task: Callable[[bytes], bytes] = measure,
    ) -> None:
        self.file, self.store, self.jobs = file, store, jobs
        self.open_engine, self.watcher, self.task = open_engine, watcher, task
        self.fleet: FleetRun = file.read()
        self.states = dict(self.fleet.machines)
        self.progress: dict[str, PlanProgress] = {}
        self.attempts = attempts
        # Workers of a scheduler that runs already need not have the resource.
        self.resources: Mapping[str, int] | None = (
            None if self.fleet.target.startswith("dask:") else {"machine": 1}
        )
        self._begun = time.monotonic()

    def go(self) -> FleetRun:
        """Opens the engine again if its scheduler died. Problems: E006 if another process collects
        this fleet run, E050 and E051 if this machine cannot store what came back."""
        with self.file.owned() as is_owner:
            if not is_owner:
                raise Problem(
                    "E006",
                    f"fleet run {self.fleet.id} is being collected by another process",
                    do="wait until it has ended, or stop it",
                )
            mend(self.store, self.fleet.id)
            return self._go()

    def _go(self) -> FleetRun:
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(pause_s(attempt, random.Random()))
            engine = self.open_engine()
            try:
                self._with(engine)
            except (OSError, TimeoutError):
                continue  # the connection to the scheduler broke
            finally:
                engine.close()
            if not self.open():
                break
        for name in self.open():
            self.note(
                name,
                state="failed",
                message=self.states[name].message or "the engine failed too often",
            )
        return structs.replace(self.fleet, machines=self.states)

    def open(self) -> list[str]:
        return [name for name, state in self.states.items() if state.state == "waiting"]

    def show(self) -> None:
        self.watcher.machines(self.states, self.progress, time.monotonic() - self._begun)

    def join(self, name: str) -> None:
        """A machine that connected after the fleet run began."""
        self.states[name] = MachineState()
        self.note(name, state="waiting")

    def began(self, name: str) -> int:
        """How often the job of this machine was given, with this time."""
        attempts = self.states[name].attempts + 1
        self.note(name, attempts=attempts)
        return attempts

    def keep(self, name: str, outcome: JobOutcome) -> bool:
        """Whether the machine is complete. What came back is kept either way."""
        self.progress.pop(name, None)
        if outcome.files:
            keep(self.store, f"{self.fleet.id}-{name}", outcome.files)
        done = outcome.state == "complete"
        self.note(
            name,
            state="complete" if done else "waiting",
            message=outcome.message,
            host=outcome.host,
        )
        return done

    def note(self, name: str, **changes: Any) -> None:
        self.states[name] = structs.replace(self.states[name], **changes)
        self.file.note({name: self.states[name]})

    def _with(self, engine: Engine) -> None:
        from distributed import Client

        connect: Any = Client  # its types are not declared
        with connect(engine.address, timeout=MACHINES_S, set_as_default=False) as client:
            client.subscribe_topic(TOPIC, self._heard)
            if not self.states:
                found = _first_machines(engine, client)
                self.states.update(dict.fromkeys(found, MachineState()))
                self.file.note(self.states)
            try:
                Dispatcher(self, engine, client).go()
            except (OSError, TimeoutError):
                engine.close()  # first: a client waits long for a scheduler that is stopped
                raise

    def _heard(self, event: tuple[float, Any]) -> None:
        """An event of Dask: how far a machine is. Those of other fleet runs are passed over."""
        try:
            progress = msgspec.convert(event[1], PlanProgress)
        except msgspec.ValidationError:
            return
        if progress.fleet == self.fleet.id:
            self.progress[progress.machine] = progress


def _first_machines(engine: Engine, client: Any) -> dict[str, str]:
    """The machines of a scheduler or a cluster: the machines are known only when their workers are
    there."""
    until = time.monotonic() + MACHINES_S
    while not (found := engine.machines(client)):
        if time.monotonic() > until:
            raise Problem("E065", f"{engine.address} has no workers")
        time.sleep(LOOK_S)
    return found
