"""A virtual machine that boots a kernel, runs one command and ends."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernel.archive import archive
from kernel.guest import Guest
from kernel.unavailable import Unavailable

QEMU = "qemu-system-x86_64"
LINES = ("console", "output", "exit_code")
"""Of the serial lines, in their order: the kernel's, what the command prints, how it ended."""


@dataclass(frozen=True)
class Ended:
    """output: standard output and error of the command. console: what the kernel said."""

    exit_code: int
    output: str
    console: str


class NoEnd(Exception):
    """The command did not come to its end: the kernel did not start, stopped, or took too long."""


def run(kernel: Path, guest: Guest, script: str, *, memory_mib: int = 2048, processors: int = 2,
        timeout_s: float = 300) -> Ended:
    """What ``/bin/sh`` does with ``script`` on that kernel.

    KVM runs it if /dev/kvm may be used; else it is emulated, which takes several times as long.
    Throws: ``Unavailable``; ``NoEnd``.
    """
    qemu = shutil.which(QEMU)
    if qemu is None:
        raise Unavailable(f"{QEMU} is not installed: install qemu-system-x86")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "initrd").write_bytes(archive(guest.with_command(script)))
        command = [
            qemu, "-machine", "pc,accel=kvm:tcg", "-cpu", "max", "-m", str(memory_mib),
            "-smp", str(processors), "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-kernel", str(kernel), "-initrd", str(folder / "initrd"),
            "-append", "console=ttyS0 quiet panic=-1",
        ]
        for line in LINES:
            command += ["-serial", f"file:{folder / line}"]
        said = _wait(command, timeout_s)
        console, output, exit_code = (_text(folder / line) for line in LINES)
    if not exit_code.strip().isdigit():
        raise NoEnd(f"{said}\n{console[-2000:]}\n{output[-2000:]}")
    return Ended(int(exit_code), output, console)


def _wait(command: list[str], timeout_s: float) -> str:
    """What qemu itself said."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {timeout_s:g} s"
    return done.stderr


def _text(file: Path) -> str:
    """A terminal ends its lines with two characters."""
    if not file.exists():
        return ""
    return file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
