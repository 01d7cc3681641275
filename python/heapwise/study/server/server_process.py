"""A server that was started, until it is told to end."""

from __future__ import annotations

import re
import subprocess
import threading
from dataclasses import dataclass, field

from heapwise.runner.process.launch import Call, Outcome
from heapwise.study.server.readiness import Ready, answers

END_S = 15.0
"""For a server that was told to end; then it is killed."""


@dataclass
class Server:
    """One that was started. Times are those of time.monotonic."""

    launcher: subprocess.Popen[bytes]
    call: Call
    started: float
    lines: list[bytes] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        return self.launcher.poll() is None

    def listen(self, stop_at: int = 10_000) -> None:
        """Keeps its lines on stdout, in a thread of its own."""
        stream = self.launcher.stdout
        if stream is None:
            return

        def read() -> None:
            for line in stream:
                if len(self.lines) < stop_at:
                    self.lines.append(line)

        threading.Thread(target=read, daemon=True).start()

    def end(self) -> Outcome:
        """Tells it to end and waits for what the launcher saw."""
        if self.runs:
            self.launcher.terminate()
        try:
            self.launcher.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.launcher.kill()
            self.launcher.wait()
        complaint = self.launcher.stderr.read() if self.launcher.stderr else b""
        return self.call.outcome(self.launcher.returncode, complaint)

    def is_ready(self, ready: Ready) -> bool:
        """Whether it printed the line, or answers at its address."""
        if ready.kind == "line":
            pattern = re.compile(ready.what.encode())
            return any(pattern.search(line) for line in list(self.lines))
        return answers(ready)
