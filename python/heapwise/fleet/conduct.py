"""Gives each machine its job, and again if it fails, until each is complete or given up."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import structs

from heapwise.errors import Problem
from heapwise.fleet.collected import keep
from heapwise.fleet.engines import Engine
from heapwise.fleet.fleet_file import FleetFile, FleetRun, MachineState
from heapwise.fleet.job import Job, Outcome, State, decode_outcome, encode_job
from heapwise.fleet.machine_side import measure

ATTEMPTS = 4
LOOK_S = 0.2
MACHINES_S = 60.0


class FleetWatcher(Protocol):
    def machines(self, states: Mapping[str, MachineState], elapsed_s: float) -> None: ...


class FleetCampaign:
    """One fleet run from its file. ``go`` may be called again, also by another process.

    task: what a worker does; a test puts another in its place.
    """

    def __init__(self, file: FleetFile, store: Path, jobs: Callable[[str], Job],
                 open_engine: Callable[[], Engine], watcher: FleetWatcher,
                 attempts: int = ATTEMPTS, task: Callable[[bytes], bytes] = measure) -> None:
        self.file, self.store, self.jobs = file, store, jobs
        self.open_engine, self.watcher, self.task = open_engine, watcher, task
        self.fleet: FleetRun = file.read()
        self.states = dict(self.fleet.machines)
        self.attempts = attempts
        self._left: dict[str, int] = {}
        self._begun = time.monotonic()

    def go(self) -> FleetRun:
        """Opens the engine again if its scheduler died."""
        for _ in range(self.attempts):
            engine = self.open_engine()
            try:
                self._with(engine)
            except (OSError, TimeoutError):
                continue  # the connection to the scheduler broke
            finally:
                engine.close()
            if not self._open():
                break
        for name in self._open():
            self._note(name, state="failed", message=self.states[name].message or
                       "the engine failed too often")
        self._save()
        return self.fleet

    def _with(self, engine: Engine) -> None:
        from distributed import Client

        connect: Any = Client  # its types are not declared
        with connect(engine.address, timeout=MACHINES_S, set_as_default=False) as client:
            workers = self._workers(engine, client)
            for name in workers:
                self.states.setdefault(name, MachineState())
            self._left = dict.fromkeys(self._open(), self.attempts)
            self._save()
            futures = {name: self._submit(client, workers, name)
                       for name in self._open() if name in workers}
            while futures and engine.is_alive():
                for name, future in list(futures.items()):
                    if future.done():
                        del futures[name]
                        if self._take(name, future) and self._try_again(name):
                            futures[name] = self._submit(client, workers, name)
                    elif engine.mend(client, name):
                        if name in engine.reasons:
                            self._note(name, message=engine.reasons[name])
                        if not self._try_again(name):
                            future.cancel()
                            del futures[name]
                self.watcher.machines(self.states, time.monotonic() - self._begun)
                time.sleep(LOOK_S)

    def _workers(self, engine: Engine, client: Any) -> dict[str, str]:
        until = time.monotonic() + MACHINES_S
        while not (found := engine.machines(client)):
            if time.monotonic() > until:
                raise Problem("E065", f"{engine.address} has no workers")
            time.sleep(LOOK_S)
        return found

    def _submit(self, client: Any, workers: Mapping[str, str], name: str) -> Any:
        self._note(name, attempts=self.states[name].attempts + 1)
        return client.submit(
            self.task, encode_job(self.jobs(name)), key=f"{self.fleet.id}-{name}-"
            f"{self.states[name].attempts}", workers=[workers[name]], allow_other_workers=False,
            resources={"machine": 1} if not engine_is_foreign(self.fleet.target) else None,
            pure=False)

    def _take(self, name: str, future: Any) -> bool:
        """Whether the job has to be tried again. What came back is kept either way."""
        if future.status != "finished":
            self._note(name, message=f"the engine said {future.status}")
            return True
        outcome: Outcome = decode_outcome(future.result())
        if outcome.files:
            keep(self.store, f"{self.fleet.id}-{name}", outcome.files)
        done = outcome.state == "complete"
        state: State = "complete" if done else "waiting"
        self._note(name, state=state, message=outcome.message, host=outcome.host)
        self._save()
        return not done

    def _try_again(self, name: str) -> bool:
        self._left[name] -= 1
        if self._left[name] > 0:
            return True
        self._note(name, state="failed")
        self._save()
        return False

    def _open(self) -> list[str]:
        return [name for name, state in self.states.items() if state.state == "waiting"]

    def _note(self, name: str, **changes: Any) -> None:
        self.states[name] = structs.replace(self.states[name], **changes)

    def _save(self) -> None:
        self.fleet = structs.replace(self.fleet, machines=dict(self.states))
        self.file.write(self.fleet)


def engine_is_foreign(target: str) -> bool:
    """Workers of a scheduler that runs already need not have the resource ``machine``."""
    return target.startswith("dask:")
