"""When a server that was started can be asked."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from heapwise.errors import Problem

STEP_S = 0.02
TRY_S = 2.0
LOOPBACKS = ("127.0.0.1", "::1")
PORTS = {"http": 80, "https": 443}
MOST_PORTS = 65535
CANNOT_START = (126, 127)
"""With these a shell ends that finds no such program, or may not start it."""


@dataclass(frozen=True)
class Ready:
    """kind: tcp, http, line or command. what: ``port``, ``host:port``, a URL, a pattern of a line
    on stdout, or a shell's command."""

    kind: str
    what: str

    @property
    def address(self) -> tuple[str, int] | None:
        """Where it will listen; without a host at one of the two addresses of the loopback. None
        if that is not known. Throws ValueError for a URL whose port is not a number."""
        if self.kind == "tcp":
            host, _, port = self.what.rpartition(":")
            return host.strip("[]"), int(port)
        if self.kind == "http":
            parts = urlsplit(self.what)
            return parts.hostname or "", parts.port or PORTS[parts.scheme]
        return None


def parse_ready(text: str) -> Ready:
    """Problem E003 for text that has none of the four forms. A placeholder may be a number."""
    kind, _, what = text.partition(":")
    if re.match(r"https?://", text):
        kind, what = "http", text
    plain = Ready(kind, what.replace("{port}", "1"))
    fits = (
        (kind == "tcp" and re.fullmatch(r"(([^:\[\]]+|\[[0-9a-fA-F:.]+\]):)?\d+", plain.what))
        or (kind == "http" and re.match(r"https?://[^/]+", plain.what))
        or (kind == "line" and what and _is_pattern(what))
        or (kind == "command" and what.strip())
    )
    if not fits or not _has_port(plain):
        raise Problem(
            "E003",
            f"--ready {text} is not understood",
            do="write tcp:6379, tcp:[::1]:6379, http://127.0.0.1:8080/, line:REGEX or "
            "command:COMMAND",
        )
    return Ready(kind, what)


def _has_port(ready: Ready) -> bool:
    """Or needs none."""
    try:
        address = ready.address
    except ValueError:
        return False
    return address is None or 0 < address[1] <= MOST_PORTS


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def answers(ready: Ready) -> bool:
    """Whether somebody answers there now, or the command succeeds. Problem E003 for a command that
    cannot be started."""
    if ready.kind == "command":
        return _succeeds(ready.what)
    return _answers_http(ready.what) if ready.kind == "http" else listens(ready)


def _succeeds(command: str) -> bool:
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            timeout=TRY_S,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode in CANNOT_START:
        raise Problem(
            "E003",
            f"the command of --ready cannot be started: {command}",
            do="write a command that this shell finds",
        )
    return done.returncode == 0


def _answers_http(url: str) -> bool:
    """Asks the server itself: without a proxy, without a check of its certificate, and without
    following a redirect."""
    import ssl
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    class Here(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            """Then the answer itself is what counts."""

    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(
        Here, urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting)
    )
    try:
        with opener.open(url, timeout=TRY_S):
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500  # it answers, whatever it says
    except (OSError, HTTPException):
        return False


def listens(ready: Ready) -> bool:
    """Whether any program listens on the port."""
    address = ready.address
    if address is None:
        return False
    host, port = address
    return any(_connects(each, port) for each in ([host] if host else LOOPBACKS))


def _connects(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), TRY_S):
            return True
    except (OSError, UnicodeError):  # the second for a name that cannot be one
        return False


def free_port() -> int:
    """One that nobody listens on now, at either address of the loopback."""
    while True:
        with socket.create_server((LOOPBACKS[0], 0)) as listener:
            port: int = listener.getsockname()[1]
            if not _connects(LOOPBACKS[1], port):
                return port


def wait_until(condition: Callable[[], bool], seconds: float, goes_on: Callable[[], bool]) -> bool:
    """Whether it came true within the time. Gives up if ``goes_on`` is no longer true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and goes_on():
        if condition():
            return True
        time.sleep(STEP_S)
    return False
