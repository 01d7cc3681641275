"""Each kind of fault, once: what it does, and how it ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from fleet_faults import processes
from fleet_faults.client import Client
from fleet_faults.machines import Machine, Machines

SHORT_S = (0.3, 3.0)
PARTITION_S = (50.0, 70.0)
"""ssh gives a connection up after 45 seconds."""
SLOW = ("tbf", "rate", "96kbit", "burst", "4kb", "limit", "6kb")
"""Packets wait for half a second; of those that come faster than that, some are dropped."""
FULL_S = (2.0, 8.0)
JUMP_S = (600, 12 * 3600)


class Faults:
    """Strikes one fleet. Each method returns whether there was something to strike."""

    def __init__(self, machines: Machines, client: Client, chance: random.Random) -> None:
        self.machines, self.client, self.chance = machines, client, chance
        self._ends: list[tuple[float, Callable[[], object]]] = []
        self.of_machine: dict[str, Callable[[Machine], bool]] = {
            "measured program killed": self._signal(processes.programs, signal.SIGKILL),
            "measured program stopped": self._signal(processes.programs, signal.SIGSTOP),
            "measuring process killed": self._signal(processes.measuring, signal.SIGKILL),
            "measuring process stopped": self._signal(processes.measuring, signal.SIGSTOP),
            "worker killed": self._signal(processes.workers, signal.SIGKILL),
            "worker stopped": self._signal(processes.workers, signal.SIGSTOP),
            "ssh killed": self._signal(processes.connections, signal.SIGKILL),
            "cable out for seconds": lambda machine: self._unplug(machine, SHORT_S),
            "cable out for a minute": lambda machine: self._unplug(machine, PARTITION_S),
            "network slow, drops packets": self._slow_down,
            "disk of a machine full": lambda machine: self._fill(machine.folder),
            "clock of a machine jumps": lambda machine: self._jump(machine.clock.jump),
        }
        self.of_client: dict[str, Callable[[], bool]] = {
            "client killed": self._kill_client,
            "client stopped for seconds": self._pause_client,
            "scheduler killed": lambda: self._strike(self._schedulers(), signal.SIGKILL),
            "scheduler stopped": lambda: self._strike(self._schedulers(), signal.SIGSTOP),
            "disk of the client full": lambda: self._fill(machines.store),
            "clock of the client jumps": lambda: self._jump(client.clock.jump),
        }

    def kinds(self) -> list[str]:
        """A machine's twice, as the client's strike all machines."""
        return [*self.of_machine, *self.of_machine, *self.of_client]

    def strike(self, kind: str) -> bool:
        if kind in self.of_client:
            return self.of_client[kind]()
        for name in self.chance.sample(sorted(self.machines.machines), len(self.machines.machines)):
            if self.of_machine[kind](self.machines.machines[name]):
                return True
        return False

    def end_due(self, *, everything: bool = False) -> None:
        """Ends those that have lasted their time."""
        now = time.monotonic()
        due = [end for end in self._ends if everything or end[0] <= now]
        self._ends = [end for end in self._ends if end not in due]
        for _, end in due:
            end()

    def _schedulers(self) -> list[int]:
        return processes.schedulers(self.client.clock.python)

    def _signal(
        self, find: Callable[[Path], Iterable[int]], number: signal.Signals
    ) -> Callable[[Machine], bool]:
        return lambda machine: self._strike(find(machine.clock.python), number)

    def _strike(self, pids: Iterable[int], number: signal.Signals) -> bool:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
                return True
        return False

    def _unplug(self, machine: Machine, seconds: tuple[float, float]) -> bool:
        if not processes.workers(machine.clock.python):
            return False
        machine.plug("down")
        self._later(seconds, lambda: machine.plug("up"))
        return True

    def _slow_down(self, machine: Machine) -> bool:
        if not processes.workers(machine.clock.python):
            return False
        words = ["tc", "qdisc", "replace", "dev", machine.cable, "root"]
        subprocess.run([*words, *SLOW], check=True)
        self._later(FULL_S, lambda: subprocess.run([*words, "pfifo"], check=True))
        return True

    def _fill(self, folder: Path) -> bool:
        filler = folder / "filler"
        if filler.exists():
            return False
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        self._later(FULL_S, lambda: filler.unlink(missing_ok=True))
        return True

    def _jump(self, jump: Callable[[int], None]) -> bool:
        jump(self.chance.choice((-1, 1)) * self.chance.randrange(*JUMP_S))
        return True

    def _kill_client(self) -> bool:
        self.client.kill()
        self.client.collect()
        return True

    def _pause_client(self) -> bool:
        process = self.client.process
        if process.poll() is not None:
            return False
        process.send_signal(signal.SIGSTOP)
        self._later(SHORT_S, lambda: process.send_signal(signal.SIGCONT))
        return True

    def _later(self, seconds: tuple[float, float], end: Callable[[], object]) -> None:
        self._ends.append((time.monotonic() + self.chance.uniform(*seconds), end))
