"""A machine that is reached by ssh: what it has, what is sent to it, and its worker."""

from __future__ import annotations

import io
import random
import secrets
import shlex
import subprocess
import sys
import tarfile
import threading
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from heapwise.catalog import native_folder
from heapwise.errors import Problem
from heapwise.fleet.hosts import Host
from heapwise.natives import CHECKOUT

PACKAGE = Path(__file__).resolve().parents[2]
OPTIONS = (
    "-o",
    "BatchMode=yes",
    "-o",
    "ExitOnForwardFailure=yes",
    "-o",
    "ConnectTimeout=20",
    "-o",
    "ServerAliveInterval=15",
)
PORTS = (20000, 60000)
CACHE = ".cache/heapwise/fleet"
DATA = ("peers", "trees", "programs", "published", "recipes")
KIND = (
    "import os, platform, sys; print(platform.machine(), os.confstr('CS_GNU_LIBC_VERSION'), "
    "'%d.%d' % sys.version_info[:2], sep='|')"
)


def ssh_words(host: Host, *options: str) -> list[str]:
    return ["ssh", *OPTIONS, *host.options, *options, host.ssh]


def run_over_ssh(host: Host, command: str, content: bytes = b"", timeout_s: float = 120) -> str:
    """What the command prints. Problem E065 if it fails or the machine cannot be reached."""
    try:
        done = subprocess.run(
            [*ssh_words(host), command],
            input=content,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Problem("E065", f"{host.name}: ssh {host.ssh}: {error}") from error
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Problem(
            "E065",
            f"{host.name}: ssh {host.ssh} ended with {done.returncode}: {' '.join(words)}",
            do=f"try it by hand: ssh {host.ssh} true",
        )
    return done.stdout.decode(errors="replace").strip()


def demand_same_kind(host: Host) -> None:
    """Native parts of ours run where processor family, C library and Python are like ours. Problem
    E065 elsewhere."""
    there = run_over_ssh(host, f"{python_of(host)} -c {shlex.quote(KIND)}").strip()
    here = subprocess.run(
        [sys.executable, "-c", KIND], capture_output=True, text=True, check=True
    ).stdout.strip()
    if there != here:
        raise Problem(
            "E065",
            f"{host.name} has {there}, and this machine has {here}",
            why="Heapwise is sent only to machines of the same processor family, "
            "C library and Python.",
            do="install Heapwise there and drive it with dask:tcp://HOST:PORT",
        )


def python_of(host: Host) -> str:
    return shlex.quote(host.python or "python3")


class Bundle:
    """This package and its native parts as a gzipped tar. It is the same for the same contents, and
    is read for its hash once and packed at most once, if a machine lacks it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @property
    def digest(self) -> str:
        with self._lock:
            return self._digest

    @property
    def content(self) -> bytes:
        with self._lock:
            return self._content

    @cached_property
    def _digest(self) -> str:
        seen = sha256()
        for inside, path in self._files:
            seen.update(inside.encode() + b"\0" + sha256(path.read_bytes()).digest())
        return seen.hexdigest()

    @cached_property
    def _content(self) -> bytes:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=6) as tar:
            for inside, path in self._files:
                tar.add(path, inside, recursive=False)
        return stream.getvalue()

    @cached_property
    def _files(self) -> list[tuple[str, Path]]:
        folders = (("heapwise", PACKAGE), ("native", native_folder()), *_data())
        named = [
            (f"{name}/{path.relative_to(folder)}", path)
            for name, folder in folders
            for path in sorted(folder.rglob("*"))
        ]
        return [
            (inside, path)
            for inside, path in named
            if path.is_file() and "__pycache__" not in inside and "/native/" not in inside
        ]


OUR_BUNDLE = Bundle()
"""For all machines of this process."""


def _data() -> list[tuple[str, Path]]:
    """Folders that an installed package has inside, and a checkout beside ``python/``."""
    return [
        (f"heapwise/{name}", CHECKOUT / name)
        for name in DATA
        if not (PACKAGE / name).is_dir() and (CHECKOUT / name).is_dir()
    ]


def send_bundle(host: Host, bundle: Bundle = OUR_BUNDLE) -> str:
    """The folder there. It is sent once for each hash and appears only when it is whole."""
    demand_same_kind(host)
    folder = f"{CACHE}/{bundle.digest}"
    if run_over_ssh(host, f"test -d {folder} && echo here || echo missing") != "here":
        part = f"{folder}.{secrets.token_hex(4)}"  # two names of one host are served at once
        unpack = f"mkdir -p {part} && tar -xz -C {part}"
        name_it = f"mv -T {part} {folder} 2>/dev/null || (rm -rf {part}; test -d {folder})"
        run_over_ssh(host, f"{unpack} && ({name_it})", bundle.content, 600)
    return folder


def start_worker_over_ssh(host: Host, scheduler: str) -> subprocess.Popen[bytes]:
    """Sends Heapwise if the machine has none of this hash. ssh forwards one port each way, so that
    nothing listens outside the loopback of either machine."""
    folder = send_bundle(host)
    back, to, contact = (random.randrange(*PORTS) for _ in range(3))
    there = (
        f"export PYTHONPATH=$HOME/{folder} HEAPWISE_NATIVE=$HOME/{folder}/native "
        f"HEAPWISE_FLEET_FOLDER={shlex.quote(host.folder)}; exec {python_of(host)} "
        f"-m heapwise.fleet.engines.worker tcp://127.0.0.1:{back} --name {host.name} --port {to} "
        f"--contact tcp://127.0.0.1:{contact}"
    )
    port = scheduler.rpartition(":")[2]
    return subprocess.Popen(
        [
            *ssh_words(
                host,
                "-R",
                f"127.0.0.1:{back}:127.0.0.1:{port}",
                "-L",
                f"127.0.0.1:{contact}:127.0.0.1:{to}",
            ),
            there,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
