"""Starts the command often, and loads its modules once.

Python and the modules take more processor time than most commands of the tests do themselves. So a
process loads them, waits for requests, and forks a child for each: the child has the words, the
working folder, the variables and the streams of the request, and ends as the command ends. What the
command knows of a library it keeps by its path, time of change and size, so that a child need not
read again what the process has read.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

Done = subprocess.CompletedProcess[str]

LONGEST = 100_000
"""Bytes of a request: the most that one message of a socket surely holds."""

FREE_PREFIXES = ("HEAPWISE_", "XDG_", "FAKE_", "_HEAPWISE_", "COMP_")
FREE_NAMES = {"PATH", "HOME"}
"""Variables that only the command reads, once it runs. Others may be read by Python, the loader or
a library when they start: with those, a process of its own is started."""

VERB = re.compile("[a-z]+")

NOT_LOADED = ("heapwise.__main__", "heapwise.fleet")
"""The command itself, and what loads a library for clusters that few commands need."""


def command(words: Sequence[str]) -> list[str]:
    """The command as a process of its own."""
    return [sys.executable, "-m", "heapwise", *words]


def verb(words: Sequence[str]) -> str:
    """The first word that is not an option."""
    return next((word for word in words if not word.startswith("-")), "")


class WarmStart:
    """Starts the command in children of a process that has its modules loaded.

    The first call of each verb is a process of its own, which shows that it loads what it needs.
    """

    def __init__(self, usual: Mapping[str, str], shared: Path | None = None) -> None:
        """``usual``: the variables that most calls have. ``shared``: a folder in which all that
        have it note the verbs, so that the first call is that of any of them."""
        self.forks = 0
        """How many calls were children of the loaded process."""
        self._usual = dict(usual)
        self._verbs: set[str] = set()
        self._shared = shared
        self.process: subprocess.Popen[bytes] | None = None
        """The process that has the modules, once there is one."""
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._busy = threading.Lock()

    def run(
        self,
        words: Sequence[str | os.PathLike[str]],
        variables: Mapping[str, str],
        cwd: Path,
        timeout_s: float,
    ) -> Done:
        """As ``subprocess.run`` with both streams captured as text, and nothing to read."""
        plain = [os.fspath(word) for word in words]
        request = json.dumps([plain, str(cwd), dict(variables)]).encode()
        first = self._is_first(verb(plain))
        usual = self._are_usual(variables) and len(request) < LONGEST
        if not first and usual and self._busy.acquire(blocking=False):
            try:
                return self._fork(request, command(plain), timeout_s)
            finally:
                self._busy.release()
        return subprocess.run(
            command(plain),
            env=dict(variables),
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def close(self) -> None:
        """Ends the process."""
        self._link.close()
        if self.process:
            self.process.communicate()

    def _is_first(self, name: str) -> bool:
        if name in self._verbs:
            return False
        self._verbs.add(name)
        if self._shared is None or not VERB.fullmatch(name):
            return True
        try:
            (self._shared / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _are_usual(self, variables: Mapping[str, str]) -> bool:
        differing = {name for name, _ in variables.items() ^ self._usual.items()}
        return all(name.startswith(FREE_PREFIXES) for name in differing - FREE_NAMES)

    def _start(self) -> None:
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env=self._usual,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def _fork(self, request: bytes, words: list[str], timeout_s: float) -> Done:
        self.forks += 1
        if not self.process:
            self._start()
        ends = [os.pipe(), os.pipe()]
        with ThreadPoolExecutor(len(ends)) as readers:
            said = [readers.submit(_read, reading) for reading, _ in ends]
            try:
                with suppress(BrokenPipeError):  # it ended: what is read below says so
                    socket.send_fds(self._link, [request], [writing for _, writing in ends])
            finally:
                for _, writing in ends:
                    os.close(writing)
            child = self._answer()
            try:
                status = self._answer(timeout_s)
            except TimeoutError:
                os.kill(child, 9)
                self._answer()
                raise subprocess.TimeoutExpired(words, timeout_s) from None
            return subprocess.CompletedProcess(words, status, *(each.result() for each in said))

    def _answer(self, timeout_s: float | None = None) -> int:
        """A number that the process sends: of a child, or how it ended."""
        self._link.settimeout(timeout_s)
        try:
            answer = self._link.recv(LONGEST)
        except ConnectionResetError:
            answer = b""
        if self.process and not answer:
            raise RuntimeError(self.process.communicate()[1].decode(errors="replace"))
        return int(answer)


def _read(descriptor: int) -> str:
    with open(descriptor, encoding="locale") as stream:
        return stream.read()


def load() -> None:
    """All modules of the command, and what they load."""
    package = importlib.import_module("heapwise")
    for module in pkgutil.walk_packages(package.__path__, "heapwise."):
        if not module.name.startswith(NOT_LOADED):
            importlib.import_module(module.name)
    rehearse()
    gc.collect()
    gc.freeze()


def rehearse() -> None:
    """Makes all verbs, and plans a comparison: then what the command loads late is loaded, and what
    it reads of the allocators of this machine is read. A test has none that a user has added, and a
    store of its own."""
    os.environ |= {"XDG_DATA_HOME": os.devnull, "HEAPWISE_STORE": os.devnull}
    app = importlib.import_module("heapwise.cli.frame.app")
    app.verbs_command()
    for verb in importlib.import_module("heapwise.wording.verbs").verb_names():
        app.verbs_command(verb)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        app.run(["compare", "--dry-run", "--", "/bin/true"])


def answer(link: socket.socket) -> bool:
    """Forks a child for each request. Returns true in a child, false when no more can come."""
    while True:
        request, streams, _, _ = socket.recv_fds(link, LONGEST, 2)
        if not request:
            return False
        child = os.fork()
        if child == 0:
            link.close()
            become(*json.loads(request), *streams)
            return True
        for stream in streams:
            os.close(stream)
        link.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        link.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(words: list[str], cwd: str, variables: dict[str, str], out: int, err: int) -> None:
    """What ``python -m heapwise`` is when it has started."""
    for stream, descriptor in ((out, 1), (err, 2)):
        os.dup2(stream, descriptor)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    main = Path(sys.modules["heapwise"].__path__[0]) / "__main__.py"
    sys.argv[:] = [str(main), *words]
    sys.path[0] = cwd


if __name__ == "__main__":
    load()
    if answer(socket.socket(fileno=int(sys.argv[1]))):
        sys.modules["heapwise.cli"].main()
