"""Odd terminals, encodings and names: everything is measured, and nothing of it is obeyed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run

ROUND = ("--runs", "1", "--warmup", "0", "--allocators", "glibc,jemalloc")
ESCAPES = "printf '\\033]0;pwned\\007\\033[2J\\233A' >&2; exit 1"

pytestmark = pytest.mark.usefixtures("built_native")


def on_terminal(
    environment: dict[str, str], place: Path, *words: str, columns: int = 80
) -> tuple[int, bytes]:
    """The command on a terminal of its own: its exit code, and all that the terminal got."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    with subprocess.Popen(
        [sys.executable, "-m", "heapwise", *words],
        env=environment,
        cwd=place,
        preexec_fn=lambda: os.login_tty(slave),
    ) as child:
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            seen += piece
        code = child.wait(timeout=120)
    os.close(master)
    return code, seen


def test_escape_sequences_of_the_program_are_shown_as_text(
    environment: dict[str, str], tmp_path: Path
) -> None:
    code, seen = on_terminal(
        environment | {"TERM": "xterm"}, tmp_path, "compare", *ROUND, "--", "sh", "-c", ESCAPES
    )
    assert code == 3, seen
    assert b"\\x1b]0;pwned\\x07" in seen.replace(b"\r\n", b"")
    assert b"\033]0;" not in seen
    assert b"\033[2J" not in seen


def test_escape_sequences_of_a_stored_run_are_shown_as_text(
    heapwise: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    assert heapwise("compare", *ROUND, "--", "true").returncode in (0, 4)
    file = next((tmp_path / "store" / "runs").glob("*/run.json"))
    document = json.loads(file.read_text())
    document["plan"]["command"] = document["command_line"] = ["\033]0;pwned\007", "\u009b2J"]
    file.write_text(json.dumps(document))
    for words in (["report", "--list"], ["report", "--list", "--json"], ["export", "-f", "json"]):
        code, seen = on_terminal(environment, tmp_path, *words)
        assert code == 0, seen
        assert b"pwned" in seen
        assert b"\033]0;" not in seen
        assert "\u009b".encode() not in seen


@pytest.mark.parametrize("columns", [1, 2, 30])
def test_a_narrow_terminal_shows_everything(
    environment: dict[str, str], tmp_path: Path, columns: int
) -> None:
    code, seen = on_terminal(
        environment | {"TERM": "xterm"}, tmp_path, "compare", *ROUND, "--", "true", columns=columns
    )
    assert code in (0, 4), seen
    assert b"Saved" in seen


def test_an_encoding_without_the_letters_loses_nothing(heapwise: Any, tmp_path: Path) -> None:
    """Six rounds have a noise floor, which is printed with a plus-minus sign."""
    done = heapwise(
        "compare",
        *ROUND,
        "--runs",
        "6",
        "--",
        "true",
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert done.returncode in (0, 4), done.stderr
    assert "Noise    \\xb1" in done.stdout
    assert "Saved" in done.stdout


def odd(name: str) -> str:
    return os.fsdecode(os.fsencode(name) + b"\xff")


def test_names_that_are_not_utf_8_are_measured_and_stored_as_text(
    environment: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / odd("place")
    place.mkdir()
    program = place / odd("job")
    program.write_text('#!/bin/sh\nprintf %s "$1$X"\n')
    program.chmod(0o755)
    (place / odd("input")).write_text("")

    def call(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "heapwise", *words],
            cwd=place,
            env=environment | {"X": odd("x"), odd("Y"): "y"},
            capture_output=True,
            timeout=120,
            check=False,
        )

    done = call("compare", "--input", odd("input"), *ROUND, "--", f"./{program.name}", odd("word"))
    assert done.returncode in (0, 4), done.stderr
    stored = read_run(tmp_path / "store", "last")
    assert stored.run.plan.command[1] == "word\\udcff"
    assert "Y\\udcff" in stored.run.plan.environment
    assert {p.status for p in stored.processes} == {"ok"}
    again = call("resume", "--runs", "2")
    assert again.returncode == 2
    assert b"not UTF-8" in again.stderr


def test_a_program_that_reads_the_terminal_is_ended_and_told_why(
    environment: dict[str, str], tmp_path: Path
) -> None:
    code, seen = on_terminal(
        environment | {"TERM": "xterm"},
        tmp_path,
        "compare",
        *ROUND,
        "--",
        "sh",
        "-c",
        "read word </dev/tty",
    )
    assert code == 3, seen
    assert b"it wants to read from the terminal; use --input FILE" in b" ".join(seen.split())
