"""Machines with a network, a disk, a wall clock and an sshd of their own, on one kernel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from fleet_faults.jumping_clock import JumpingClock

TOOLS = ("ip", "tc", "ssh", "sshd", "ssh-keygen", "cc")
SYSTEM_PATHS = "/usr/sbin:/sbin"


def why_not() -> str:
    """What is missing here for such machines; "" for nothing."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in TOOLS:
        if shutil.which(tool, path=f"{os.environ['PATH']}:{SYSTEM_PATHS}") is None:
            return f"{tool} is not installed (openssh-server, iproute2, gcc)"
    trial = f"hw{os.getpid()}trial"
    if subprocess.run(["ip", "netns", "add", trial], capture_output=True, check=False).returncode:
        return "network namespaces are not allowed here"
    _run("ip", "netns", "del", trial)
    return ""


@dataclass(frozen=True)
class Machine:
    """folder: its disk, of which jobs use a part. cable: our end of its network."""

    name: str
    folder: Path
    cable: str
    address: str
    clock: JumpingClock

    def plug(self, state: str) -> None:
        """``up`` or ``down``."""
        _run("ip", "link", "set", self.cable, state)


class Machines:
    """A context. Names are m1, m2 and so on. hosts: the hosts file. store: a folder for the
    client's store, with a disk of its own. options: more of ssh's. Requires ``not why_not()``."""

    def __init__(
        self, folder: Path, count: int, disk: str = "48m", options: tuple[str, ...] = ()
    ) -> None:
        self.folder, self.disk, self.options = folder, disk, options
        self.hosts, self.store, self.key = folder / "hosts.toml", folder / "client", folder / "key"
        self.numbers = range(1, count + 1)
        self.machines: dict[str, Machine] = {}
        self._network = 128 + os.getpid() % 120
        self._left = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as begun:
            Path("/run/sshd").mkdir(exist_ok=True)
            _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key))
            self._mount(begun, self.store)
            for number in self.numbers:
                machine = self._machine(begun, number)
                self.machines[machine.name] = machine
            self.hosts.write_text("".join(map(self._line, self.machines.values())))
            self._left = begun.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.close()

    def _machine(self, begun: ExitStack, number: int) -> Machine:
        name = f"m{number}"
        folder = self.folder / name
        self._mount(begun, folder)  # an sshd has its own view of what is mounted: it comes later
        namespace = f"hw{os.getpid()}{name}"
        here, there = (f"10.{self._network}.{number}.{end}" for end in (1, 2))
        self._wire(begun, namespace, here, there)
        self._serve(begun, namespace, there)
        clock = JumpingClock(
            self.folder / f"python-{name}", HEAPWISE_FLEET_LOCK=str(folder / "lock")
        )
        return Machine(name, folder, namespace, there, clock)

    def _mount(self, begun: ExitStack, folder: Path) -> None:
        folder.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={self.disk}", "none", str(folder))
        begun.callback(_try, "umount", "--lazy", str(folder))

    def _wire(self, begun: ExitStack, namespace: str, here: str, there: str) -> None:
        """Our end of the cable has the name of the namespace."""
        inside, far = ("ip", "netns", "exec", namespace, "ip"), f"{namespace}x"
        _run("ip", "netns", "add", namespace)
        begun.callback(_try, "ip", "netns", "del", namespace)
        _run("ip", "link", "add", namespace, "type", "veth", "peer", far, "netns", namespace)
        begun.callback(_try, "ip", "link", "del", namespace)
        _run("ip", "addr", "add", f"{here}/24", "dev", namespace)
        _run("ip", "link", "set", namespace, "up")
        _run(*inside, "addr", "add", f"{there}/24", "dev", far)
        _run(*inside, "link", "set", far, "up")
        _run(*inside, "link", "set", "lo", "up")

    def _serve(self, begun: ExitStack, namespace: str, there: str) -> None:
        server = subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                namespace,
                "/usr/sbin/sshd",
                "-D",
                "-f",
                "/dev/null",
                "-h",
                str(self.key),
                "-o",
                "PidFile=none",
                "-o",
                f"ListenAddress={there}",
                "-o",
                f"AuthorizedKeysFile={self.key}.pub",
                "-o",
                "StrictModes=no",
                "-o",
                "PermitRootLogin=yes",
            ],
            stderr=subprocess.DEVNULL,
        )
        begun.callback(server.wait)
        begun.callback(server.terminate)

    def _line(self, machine: Machine) -> str:
        words = [
            "-i",
            str(self.key),
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            "UserKnownHostsFile=/dev/null",
            *self.options,
        ]
        return (
            f'{machine.name} = {{ ssh = "root@{machine.address}", '
            f'python = "{machine.clock.python}", folder = "{machine.folder}", '
            f"options = {json.dumps(words)} }}\n"
        )


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=_environment())


def _try(*words: str) -> None:
    subprocess.run(words, check=False, capture_output=True, env=_environment())


def _environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{os.environ['PATH']}:{SYSTEM_PATHS}"}
