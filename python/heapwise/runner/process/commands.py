"""The user's own shell commands around the processes of a comparison. None of them is timed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwise.errors import Problem
from heapwise.model import Build, Setting, filled
from heapwise.runner.process.launch import Launch, launch
from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.runner.process.work import ending

CLEANUP_S = 600.0
"""A cleanup that takes longer is left behind."""


@dataclass(frozen=True)
class Commands:
    """The commands of one build in one cell. They run in the user's environment, with nothing
    preloaded.

    folder: for the files of the launcher. working_directory: that of the user.
    """

    build: Build
    cell: Mapping[str, Setting]
    environment: dict[str, str]
    working_directory: str
    folder: Path
    timeout_s: float

    def setup(self, stop: StopSwitch) -> None:
        """Problem E034 if it fails."""
        if trouble := self._run("--setup", self.build.setup, self.cell, stop):
            raise Problem("E034", trouble)

    def prepare(self, values: Mapping[str, Setting], stop: StopSwitch, where: str) -> None:
        """Before a process, in its folder. Problem E034 if it fails."""
        if trouble := self._run(
            "--prepare", self.build.prepare, {**self.cell, **values}, stop, where
        ):
            raise Problem("E034", trouble)

    def conclude(self, values: Mapping[str, Setting], stop: StopSwitch, where: str) -> None:
        """After a process, in its folder; after Ctrl-C, too. Problem E034 if it fails."""
        trouble = self._end("--conclude", self.build.conclude, {**self.cell, **values}, where)
        if trouble and not stop.requested:
            raise Problem("E034", trouble)

    def cleanup(self) -> str:
        """What went wrong, in words. It runs after Ctrl-C, too."""
        return self._end("--cleanup", self.build.cleanup, self.cell, self.working_directory)

    def _end(self, option: str, text: str, values: Mapping[str, Setting], where: str) -> str:
        """What went wrong, in words."""
        if not text:
            return ""
        command = filled(text, values)
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                cwd=where or None,
                capture_output=True,
                check=False,
                timeout=CLEANUP_S,
                start_new_session=True,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{option} {command}: {error}"
        if done.returncode == 0:
            return ""
        words = done.stderr.decode(errors="replace").strip()
        return f"{option} {command} ended with {done.returncode}{': ' if words else ''}{words}"

    def _run(
        self,
        option: str,
        text: str,
        values: Mapping[str, Setting],
        stop: StopSwitch,
        where: str = "",
    ) -> str:
        if not text or stop.requested:
            return ""
        folder = self.folder / "commands"
        folder.mkdir(exist_ok=True)
        command = filled(text, values)
        outcome = launch(
            Launch(
                ["/bin/sh", "-c", command],
                self.environment,
                self.timeout_s,
                keeps_output=True,
                working_directory=where or self.working_directory,
            ),
            folder,
            stop,
        )
        if outcome.interrupted or outcome.facts.exit_code == 0:
            return ""
        return f"{option} {command} {ending(outcome, self.timeout_s)}"
