"""When a server that was started can be asked."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from heapwise.errors import Problem

STEP_S = 0.02
TRY_S = 2.0
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Ready:
    """kind: tcp, http or line. what: ``host:port``, a URL, or a pattern of a line on stdout."""

    kind: str
    what: str

    @property
    def address(self) -> tuple[str, int] | None:
        """Where it will listen; None if that is not known."""
        if self.kind == "tcp":
            host, _, port = self.what.rpartition(":")
            return host or LOOPBACK, int(port)
        if self.kind == "http":
            parts = urlsplit(self.what)
            return parts.hostname or LOOPBACK, parts.port or 80
        return None


def parse_ready(text: str) -> Ready:
    """Problem E003 for text that has none of the three forms. A placeholder may be a number."""
    kind, _, what = text.partition(":")
    if re.match(r"https?://", text):
        kind, what = "http", text
    plain = what.replace("{port}", "1")
    fits = (
        (kind == "tcp" and re.fullmatch(r"([^:]+:)?\d+", plain))
        or (kind == "http" and re.match(r"https?://[^/]+", plain))
        or (kind == "line" and what and _is_pattern(what)))
    if not fits:
        raise Problem("E003", f"--ready {text} is not understood",
                      do="write tcp:6379, http:http://127.0.0.1:8080/ or line:REGEX")
    return Ready(kind, what)


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def answers(ready: Ready) -> bool:
    """Whether somebody answers there now."""
    if ready.kind == "http":
        return _answers_http(ready.what)
    address = ready.address
    if address is None:
        return False
    try:
        with socket.create_connection(address, TRY_S):
            return True
    except OSError:
        return False


def _answers_http(url: str) -> bool:
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    try:
        with urllib.request.urlopen(url, timeout=TRY_S):
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
    with socket.socket() as probe:
        probe.settimeout(TRY_S)
        return probe.connect_ex(address) == 0


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        port: int = listener.getsockname()[1]
        return port


def wait_until(condition: Callable[[], bool], seconds: float, goes_on: Callable[[], bool]) -> bool:
    """Whether it came true within the time. Gives up if ``goes_on`` is no longer true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and goes_on():
        if condition():
            return True
        time.sleep(STEP_S)
    return False
