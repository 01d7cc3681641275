"""Runs one command and says what is wrong with how it went."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile
from commands import Call
from sandbox import Sandbox, outside

from heapwise.cli.frame import app

ROOT = Path(__file__).resolve().parents[3]
CPU_LIMIT_S = 5
BUG = 70

DOCUMENTED = {
    int(code)
    for code in re.findall(
        r"^\| (\d+) \|", (ROOT / "docs" / "exit-codes.md").read_text(), re.MULTILINE
    )
}
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OF_PYTHON = re.compile(r"\.py:\d+:|\w+Warning:|Traceback \(most recent")


class TooLong(BaseException):
    """A case took more processor time than it may."""


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def judge(call: Call, sandbox: Sandbox, *, process: bool) -> list[str]:
    """Effects: runs the command in the sandbox. Returns: what is wrong; empty if nothing is."""
    if call.settings is not None:
        (sandbox.cwd / "heapwise.toml").write_bytes(call.settings)
    sandbox.writes.clear()
    before = sandbox.tree()
    code, out, err = _in_a_process(call, sandbox) if process else _here(call, sandbox)
    after = sandbox.tree()
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    wrong = [f"writes {path!r}" for path in outside(changed | sandbox.writes, call.allowed)]
    if isinstance(code, str):
        return [code, *wrong]
    if code == BUG or code not in DOCUMENTED:
        wrong.append(f"exit code {code}: {err[-600:]}")
    if OF_PYTHON.search(err):
        wrong.append(f"Python speaks on stderr: {err[-600:]}")
    if call.terminal:
        for name, text in (("stdout", out), ("stderr", err)):
            if found := CONTROL.search(text.replace("\r\n", "\n")):
                around = text[max(0, found.start() - 80) : found.end() + 20]
                wrong.append(f"{name} has a control character: {around!r}")
    wrong += _of_json(call, code, out)
    wrong += _of_pages(sandbox.root)
    return wrong


def _of_json(call: Call, code: int, out: str) -> list[str]:
    """What ``report --json`` prints is JSON."""
    if (
        code != 0
        or "--json" not in call.words
        or call.words[0] != "report"
        or "-h" in call.words
        or "--help" in call.words
        or call.encoding != "utf-8"
    ):
        return []
    try:
        json.loads(out)
    except ValueError as error:
        return [f"stdout is not JSON: {error}: {out[:200]!r}"]
    return []


def _of_pages(root: Path) -> list[str]:
    """A name cannot be a script in a page."""
    return [
        f"{page} has a script of others"
        for page in root.glob("**/*.html")
        if hostile.SCRIPT in page.read_text(errors="replace")
    ]


def _here(call: Call, sandbox: Sandbox) -> tuple[int | str, str, str]:
    """In this process, which is fast. The first element says what went wrong if it is a text."""
    kind = Terminal if call.terminal else io.TextIOWrapper
    streams: list[Any] = [
        kind(io.BytesIO(), encoding=call.encoding, errors="backslashreplace") for _ in range(2)
    ]
    old_environment = dict(os.environ)
    os.environ.clear()
    os.environ.update(sandbox.environment() | call.environment)
    code: int | str
    try:
        with (
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
            warnings.catch_warnings(),
            sandbox.watched(),
            _limited(),
        ):
            warnings.simplefilter("always", RuntimeWarning)
            code = app.run(call.words)
    except TooLong:
        code = f"more than {CPU_LIMIT_S} s of processor time"
    except BaseException:
        code = f"an exception came out: {traceback.format_exc()[-1500:]}"
    finally:
        os.environ.clear()
        os.environ.update(old_environment)
        os.chdir(sandbox.cwd)
    texts = [_text(stream, call.encoding) for stream in streams]
    return code, texts[0], texts[1]


def _text(stream: Any, encoding: str) -> str:
    stream.flush()
    return str(stream.buffer.getvalue().decode(encoding, errors="replace"))


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _in_a_process(call: Call, sandbox: Sandbox) -> tuple[int | str, str, str]:
    """As a user types it: on a real terminal, or with pipes."""
    environment = {
        name: value for name, value in (sandbox.environment() | call.environment).items() if name
    }
    environment |= {"PYTHONPATH": str(ROOT / "python"), "PYTHONIOENCODING": call.encoding}
    command = [sys.executable, "-P", "-m", "heapwise", *call.words]
    pairs = [pty.openpty() if call.terminal else os.pipe() for _ in range(2)]
    started = subprocess.Popen(
        command,
        cwd=sandbox.cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=pairs[0][1],
        stderr=pairs[1][1],
        preexec_fn=_limit,
        start_new_session=True,
    )
    for _, writing in pairs:
        os.close(writing)
    texts = _read([reading for reading, _ in pairs])
    code = started.wait()
    words = [text.decode(call.encoding, errors="replace") for text in texts]
    if code == -signal.SIGXCPU:
        return f"more than {4 * CPU_LIMIT_S} s of processor time", words[0], words[1]
    return code, words[0], words[1]


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (4 * CPU_LIMIT_S, 4 * CPU_LIMIT_S + 5))


def _read(descriptors: list[int]) -> list[bytes]:
    texts = dict.fromkeys(descriptors, b"")
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        end = time.monotonic() + 120
        while selector.get_map() and time.monotonic() < end:
            for key, _ in selector.select(1):
                try:
                    data = os.read(key.fd, 1 << 16)
                except OSError:  # the other side of a terminal is closed
                    data = b""
                texts[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
    for descriptor in descriptors:
        os.close(descriptor)
    return list(texts.values())
