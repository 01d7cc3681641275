"""A virtual machine that boots a kernel, runs one command and ends."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kernel.archive import archive
from kernel.guest import Guest
from kernel.unavailable import Unavailable

QEMU = "qemu-system-x86_64"
LINES = ("console", "output", "exit_code")
"""The names of the serial lines, in their order: the kernel's, what the command prints, how it
ended."""

FIRST_WORDS = "Linux version"
START_S = 20.0
POLL_S = 0.1


@dataclass(frozen=True)
class Ended:
    """output: standard output and error of the command. console: what the kernel said."""

    exit_code: int
    output: str
    console: str


class NoEnd(Exception):
    """The command did not come to its end: the kernel did not start, stopped, or took too long."""


@dataclass
class Machine:
    """Boots one kernel, again and again.

    accelerators: of qemu, the fastest first. One with which the kernel does not start is left out
    from then on: /dev/kvm may be there and of no use, within another virtual machine.
    """

    kernel: Path
    memory_mib: int = 2048
    processors: int = 2
    accelerators: list[str] = field(default_factory=lambda: ["kvm", "tcg"])

    def run(self, guest: Guest, script: str, *, timeout_s: float = 300) -> Ended:
        """What ``/bin/sh`` does with ``script``. Throws: ``Unavailable``; ``NoEnd``."""
        if shutil.which(QEMU) is None:
            raise Unavailable(f"{QEMU} is not installed: install qemu-system-x86")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "initrd").write_bytes(archive(guest.with_command(script)))
            said = self._boot(folder, timeout_s)
            console, output, exit_code = (_text(folder / line) for line in LINES)
        if not exit_code.strip().isdigit():
            raise NoEnd(f"{said}\n{console[-2000:]}\n{output[-2000:]}")
        return Ended(int(exit_code), output, console)

    def _boot(self, folder: Path, timeout_s: float) -> str:
        """With the first accelerator with which the kernel starts. What qemu itself said."""
        while True:
            with _qemu(self._command(folder)) as process:
                if _starts(process, folder / LINES[0]) or len(self.accelerators) == 1:
                    return _wait(process, timeout_s)
            self.accelerators.pop(0)

    def _command(self, folder: Path) -> list[str]:
        command = [
            QEMU,
            "-machine",
            f"pc,accel={self.accelerators[0]}",
            "-cpu",
            "max",
            "-m",
            str(self.memory_mib),
            "-smp",
            str(self.processors),
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
            "-kernel",
            str(self.kernel),
            "-initrd",
            str(folder / "initrd"),
            "-append",
            "console=ttyS0 panic=-1",
        ]
        for line in LINES:
            command += ["-serial", f"file:{folder / line}"]
        return command


@contextmanager
def _qemu(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """It is killed if it has not ended by itself."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _starts(process: subprocess.Popen[str], console: Path) -> bool:
    """Whether the kernel says that it is there, within the time that it may take."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if FIRST_WORDS in _text(console):
            return True
        if process.poll() is not None:
            return FIRST_WORDS in _text(console)
        time.sleep(POLL_S)
    return False


def _wait(process: subprocess.Popen[str], timeout_s: float) -> str:
    """What qemu itself said."""
    try:
        return process.communicate(timeout=timeout_s)[1]
    except subprocess.TimeoutExpired:
        return f"no end after {timeout_s:g} s"


def _text(file: Path) -> str:
    """A terminal ends its lines with two characters."""
    if not file.exists():
        return ""
    return file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
