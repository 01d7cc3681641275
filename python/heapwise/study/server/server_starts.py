"""How a server is started under an allocator, with a port and folders of its own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwise.catalog import COUNTER, PROBE, native_part
from heapwise.errors import Problem
from heapwise.model import Plan, ServerOptions, Setting, Subject, filled
from heapwise.runner.process.environment import of_child, padding
from heapwise.runner.process.launch import Call, Launch, launch
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.work import ending
from heapwise.study.server.readiness import Ready, free_port
from heapwise.study.server.server_process import Server

MOMENTS = 1024
LONGEST_S = 24 * 3600.0
PREPARE_S = 600.0


@dataclass(frozen=True)
class ServerStarts:
    """environment: what the servers get, secrets included. folder: for all files of ours."""

    plan: Plan
    options: ServerOptions
    environment: dict[str, str]
    folder: Path

    def place(self, name: str) -> Path:
        """A folder that all servers share."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def values(self, data: str = "data") -> dict[str, Setting]:
        """What the words of the commands stand for: a free port, and an empty folder of this name,
        so servers that run at once have different ones."""
        folder = self.folder / data
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return {"port": free_port(), "folder": str(folder), "cache": str(self.place("cache"))}

    def prepare(self, values: dict[str, Setting], stop: StopSwitch) -> None:
        """Problem E034 if a command fails."""
        for text in self.options.prepare:
            command = filled(text, values)
            outcome = launch(
                Launch(["/bin/sh", "-c", command], self.environment, PREPARE_S, keeps_output=True),
                self.place("commands"),
                stop,
            )
            if not outcome.interrupted and outcome.facts.exit_code != 0:
                raise Problem("E034", f"{command} {ending(outcome, PREPARE_S)}")

    def start(
        self,
        subject: Subject,
        number: int,
        values: dict[str, Setting],
        ready: Ready,
        *,
        cpus: Sequence[int],
        place: str = "server",
        counts: bool = False,
    ) -> Server:
        """place: the name of its folder. counts: with the counting probe in place of the one that
        looks for the allocator."""
        peer = subject.peer
        library = (peer.path or "") if peer else ""
        # The counter forwards to the allocator behind it; the probe must not stand before one.
        libraries = (
            (str(native_part(COUNTER)), library) if counts else (library, str(native_part(PROBE)))
        )
        environment = of_child(peer, self.environment, libraries, padding(self.plan.seed, number))
        build = self.plan.build_of(subject.name)
        what = Launch(
            [filled(word, values) for word in build.command],
            environment,
            LONGEST_S,
            self.plan.input_path,
            self.plan.working_directory,
            list(cpus),
            memory_moments=MOMENTS,
        )
        call = Call(what, self.place(place))
        reads = ready.kind == "line"
        server = Server(call.start(pass_stdout=reads), call, time.monotonic())
        if reads:
            server.listen()
        return server
