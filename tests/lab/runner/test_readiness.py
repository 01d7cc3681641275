"""When a server can be asked, with real servers of each kind."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from heapwise.errors import Problem
from heapwise.study.server.readiness import answers, free_port, listens, parse_ready

NOBODY = "http://127.0.0.1:9/"
"""A port that is reserved for what nobody starts."""


def has_six() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


needs_six = pytest.mark.skipif(not has_six(), reason="this machine has no ::1")


class Page(BaseHTTPRequestHandler):
    """Answers with the code that is asked for: /404; /301 sends visitors on to ``NOBODY``."""

    def do_GET(self) -> None:
        self.send_response(int(self.path[1:] or 200))
        self.send_header("Location", NOBODY)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Six(ThreadingHTTPServer):
    address_family = socket.AF_INET6


@contextmanager
def served(
    kind: type[ThreadingHTTPServer] = ThreadingHTTPServer,
    host: str = "127.0.0.1",
    certificate: Path | None = None,
) -> Iterator[int]:
    """The port of a server of pages."""
    with kind((host, 0), Page) as server:
        if certificate:
            secret = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            secret.load_cert_chain(certificate)
            server.socket = secret.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("page", "is_ready"),
    [("", True), ("404", True), ("401", True), ("301", True), ("500", False), ("503", False)],
)
def test_every_answer_but_a_failure_counts(page: str, is_ready: bool) -> None:
    """Where visitors are sent on to nobody answers."""
    with served() as port:
        assert answers(parse_ready(f"http://127.0.0.1:{port}/{page}")) is is_ready
        assert answers(parse_ready(f"tcp:{port}"))
    assert not answers(parse_ready(f"http://127.0.0.1:{port}/"))
    assert not answers(parse_ready(f"tcp:{port}"))


def test_a_proxy_is_not_asked_in_place_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, NOBODY)
    with served() as port:
        assert answers(parse_ready(f"http://127.0.0.1:{port}/"))


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_any_certificate_will_do(tmp_path: Path) -> None:
    certificate = tmp_path / "both.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=elsewhere",
            "-keyout",
            certificate,
            "-out",
            tmp_path / "public.pem",
        ],
        check=True,
        capture_output=True,
    )
    certificate.write_text(certificate.read_text() + (tmp_path / "public.pem").read_text())
    with served(certificate=certificate) as port:
        assert answers(parse_ready(f"https://localhost:{port}/"))


@needs_six
def test_a_server_at_the_other_address_of_the_loopback_is_found() -> None:
    with served(Six, "::1") as port:
        for text in (f"tcp:{port}", f"tcp:[::1]:{port}", f"http://[::1]:{port}/"):
            assert answers(parse_ready(text)), text
            assert listens(parse_ready(text)), text
        assert not answers(parse_ready(f"tcp:127.0.0.1:{port}"))


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("tcp:6379", "", 6379),
        ("tcp:db.example:5432", "db.example", 5432),
        ("tcp:[::1]:80", "::1", 80),
        ("http://localhost/", "localhost", 80),
        ("https://localhost/", "localhost", 443),
        ("http://[::1]:8080/x", "::1", 8080),
        ("http:http://127.0.0.1:1/", "127.0.0.1", 1),
    ],
)
def test_the_address_is_known(text: str, host: str, port: int) -> None:
    assert parse_ready(text).address == (host, port)


@pytest.mark.parametrize(
    "text",
    [
        "tcp:",
        "tcp:0",
        "tcp:70000",
        "tcp:six",
        "tcp:::1:80",
        "tcp:[::1]",
        "http:",
        "http://",
        "http://localhost:70000/",
        "http://localhost:six/",
        "line:",
        "line:(",
        "soon",
        "",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_ready(text)
    assert refused.value.id == "E003"


def test_a_name_that_cannot_be_one_is_nobodys() -> None:
    for host in ("no-such-host.invalid", "a..b"):
        assert not answers(parse_ready(f"tcp:{host}:80"))


def test_a_free_port_is_nobodys() -> None:
    assert not listens(parse_ready(f"tcp:{free_port()}"))


def test_a_command_says_when_a_server_is_ready(tmp_path: Path) -> None:
    ready = parse_ready(f"command:test -e {tmp_path}/up")
    assert not answers(ready)
    (tmp_path / "up").touch()
    assert answers(ready)
    assert not listens(ready)


def test_a_command_that_cannot_be_started_is_named() -> None:
    with pytest.raises(Problem, match="cannot be started: no-such-check"):
        answers(parse_ready("command:no-such-check --port 1"))
