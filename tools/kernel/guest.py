"""The files of a guest: programs of this machine, with the libraries that they load."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from kernel.archive import Entry
from kernel.unavailable import Unavailable

BUSYBOX = Path("/bin/busybox")
LIBRARY = re.compile(r"(/\S+) \(0x")

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /root
/bin/busybox --install -s /bin
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
cd /tmp
sh /command </dev/null >/dev/ttyS1 2>&1
echo $? >/dev/ttyS2
poweroff -f
"""
"""The console is for the kernel; what the command prints, and its exit code, have lines of their
own. All groups of the guest may have a memory controller (version 2)."""


class Guest:
    """Each file is at the path that it has here."""

    def __init__(self) -> None:
        if not BUSYBOX.exists():
            raise Unavailable(f"{BUSYBOX} is not here: install busybox-static")
        self._entries: dict[str, Entry] = {}
        self.write("/init", INIT, 0o755)
        self.add(BUSYBOX)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        self._entries[path] = Entry(text.encode(), mode)

    def add(self, *paths: Path) -> None:
        """Files, or whole folders, and the libraries of every program and library among them."""
        for path in paths:
            files = _files_below(path) if path.is_dir() else [path]
            for file in files:
                self._add_file(file)

    def with_command(self, script: str) -> dict[str, Entry]:
        """All files, and what ``/bin/sh`` does."""
        return self._entries | {"/command": Entry(script.encode())}

    def _add_file(self, file: Path) -> None:
        name = str(file.absolute())  # a link keeps its name
        if name in self._entries:
            return
        content = file.read_bytes()
        self._entries[name] = Entry(content, file.stat().st_mode & 0o777)
        if content.startswith(b"\x7fELF"):
            for library in _libraries(name):
                self._add_file(library)


def _files_below(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]


def _libraries(program: str) -> list[Path]:
    """A static program has none."""
    if shutil.which("ldd") is None:
        raise Unavailable("ldd is not here: it finds the libraries of programs")
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [Path(found) for found in LIBRARY.findall(listed.stdout)]
