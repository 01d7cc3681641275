"""One fleet run that faults strike from its first sample on."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec

from fleet_faults.client import Client
from fleet_faults.faults import Faults
from fleet_faults.journals import Journals
from fleet_faults.machines import Machines

PROGRAM = "#!/bin/sh\n[ -e {flag} ] && exec sleep 1\nexec sleep 0\n"
"""It takes long while faults strike, so that the plan is not done before they are."""
BETWEEN_S = (0.2, 2.0)
TARGET_S = 20.0
"""A kind that finds nothing to strike for this long lets another go first."""
STALL = "30s"
WITHOUT_PROGRESS_S = 600.0


class Struck(msgspec.Struct, frozen=True):
    """kinds: how often each struck. ended_early: clients that ended before all was complete.
    samples: in the client's store, each once."""

    machines: int
    rounds: int
    kinds: dict[str, int]
    samples: int
    ended_early: int
    seconds: float


def strike_fleet(folder: Path, machines: int, faults: int, rounds: int, seed: int) -> Struck:
    """Lost if a sample is lost or doubled. SystemExit if the plan was done before the faults, or
    nothing is stored for ten minutes. Requires ``not why_not()``."""
    begun, flag, program = time.monotonic(), folder / "faults", folder / "program"
    flag.touch()
    program.write_text(PROGRAM.format(flag=flag))
    program.chmod(0o755)
    with Machines(folder, machines) as laboratory:
        client = Client(
            folder,
            laboratory.store,
            [
                "compare",
                "--fleet",
                f"{laboratory.hosts},stall={STALL}",
                "--rounds",
                str(rounds),
                "--warmup",
                "0",
                "--allocators",
                "glibc,heapwise",
                "--",
                str(program),
            ],
        )
        try:
            journals = Journals({m.name: m.folder for m in laboratory.machines.values()})
            campaign = _Campaign(laboratory, client, journals, random.Random(seed))
            campaign.strike(faults)
            flag.unlink()
            campaign.until_done()
            samples = journals.demand_all(client.store, rounds)
        finally:
            client.kill()
    return Struck(
        machines,
        rounds,
        dict(campaign.kinds),
        samples,
        client.ended_early,
        time.monotonic() - begun,
    )


class _Campaign:
    def __init__(
        self, machines: Machines, client: Client, journals: Journals, chance: random.Random
    ) -> None:
        self.client, self.journals, self.chance = client, journals, chance
        self.faults = Faults(machines, client, chance)
        self.kinds: Counter[str] = Counter()
        self._stored, self._stored_at = 0, time.monotonic()

    def strike(self, faults: int) -> None:
        while not all(folder in self._measuring() for folder in self.journals.folders):
            self._step(0.5)
        deck: list[str] = []
        while self.kinds.total() < faults:
            deck = deck or self.chance.sample(self.faults.kinds(), len(self.faults.kinds()))
            kind = deck.pop()
            if self._strike_soon(kind):
                self.kinds[kind] += 1
                print(f"{self.kinds.total()} of {faults}: {kind}", file=sys.stderr, flush=True)
            else:
                deck.insert(0, kind)
            self._step(self.chance.uniform(*BETWEEN_S))
        self.faults.end_due(everything=True)

    def until_done(self) -> None:
        while not self.client.is_done():
            self._look()
            time.sleep(0.5)

    def _strike_soon(self, kind: str) -> bool:
        until = time.monotonic() + TARGET_S
        while not self.faults.strike(kind):
            if time.monotonic() > until:
                return False
            self._step(0.3)
        return True

    def _step(self, seconds: float) -> None:
        self._look()
        if self.client.is_done():
            raise SystemExit(
                f"error: the plan was done after {self.kinds.total()} faults; give it more rounds"
            )
        time.sleep(seconds)

    def _look(self) -> None:
        self.faults.end_due()
        self.journals.look()
        now, stored = time.monotonic(), sum(map(len, self.journals.seen.values()))
        if stored != self._stored:
            self._stored, self._stored_at = stored, now
        elif now - self._stored_at > WITHOUT_PROGRESS_S:
            raise SystemExit(
                f"error: nothing was stored for {WITHOUT_PROGRESS_S:.0f} s after "
                f"{self.kinds.total()} faults"
            )

    def _measuring(self) -> set[str]:
        """Machines that have stored something."""
        return {run.partition("-")[2] for run, lines in self.journals.seen.items() if lines}
