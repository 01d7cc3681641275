"""A user who measures on a fleet: the command, and ``fleet collect`` each time that it ends
early."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from fleet_faults.jumping_clock import JumpingClock


class Client:
    """arguments: of the verb that measures. ended_early: how often it ended without all
    machines."""

    def __init__(self, folder: Path, store: Path, arguments: list[str]) -> None:
        self.clock = JumpingClock(folder / "python-client")
        self.folder, self.store, self.log = folder, store / "store", folder / "client.log"
        self.ended_early = 0
        verb, *rest = arguments
        self.process = self._start(verb, "--store", str(self.store), *rest)

    def is_done(self) -> bool:
        """Whether all machines are complete. A client that ended otherwise is followed by
        another."""
        code = self.process.poll()
        if code:
            self.ended_early += 1
            self.collect()
        return code == 0

    def collect(self) -> None:
        self.process = self._start("fleet", "collect", "--store", str(self.store))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [str(self.clock.python), "-m", "heapwise", *words],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(_sources())},
            )


def _sources() -> list[str]:
    """Where this process has its Heapwise from."""
    import heapwise

    return [
        str(Path(heapwise.__file__).resolve().parents[1]),
        *filter(None, [os.environ.get("PYTHONPATH", "")]),
    ]
