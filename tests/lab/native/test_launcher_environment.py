"""The environment of the program: exactly what it is given, and nobody else can read it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest


def test_environment_is_inherited(launch: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    launch("/usr/bin/env", options=["--stdout", str(out)])
    assert f"PATH={os.environ['PATH']}" in out.read_text().splitlines()


@pytest.mark.parametrize("size", [0, 3, 65536, 131_000])
def test_environment_is_exactly_what_the_descriptor_holds(
    launch: Any, tmp_path: Path, size: int
) -> None:
    out = tmp_path / "out"
    entries = [b"A=x=y", b"ODD=\xff\xfe", b"EMPTY=", *([b"LONG=" + b"x" * size] * bool(size))]
    launch("/usr/bin/env", environment=entries, options=["--stdout", str(out)])
    seen = out.read_bytes()
    assert len(seen) == sum(len(entry) + 1 for entry in entries)
    assert seen.split(b"\n")[:-1] == entries


def test_many_variables_arrive(launch: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    entries = [b"V%04d=1" % number for number in range(5000)]
    launch("/usr/bin/env", environment=entries, options=["--stdout", str(out)])
    assert out.read_bytes().split(b"\n")[:-1] == entries


def test_environment_is_on_no_command_line_and_its_descriptor_is_closed(
    launch: Any, tmp_path: Path
) -> None:
    """The program looks at its parent, the launcher, and at what it inherited."""
    out = tmp_path / "out"
    launch(
        "/bin/sh",
        "-c",
        "cat /proc/$PPID/cmdline /proc/$PPID/environ; ls /proc/self/fd",
        environment=[b"SECRET=hunter2", b"PATH=/usr/bin:/bin"],
        options=["--stdout", str(out)],
    )
    seen = out.read_bytes()
    assert b"heapwise-launch" in seen
    assert b"hunter2" not in seen
    assert seen.endswith(b"0\n1\n2\n3\n")


def test_preload_for_the_program_stays_out_of_the_launcher(
    launch: Any, native: Path, toy: str, tmp_path: Path
) -> None:
    """The probe writes one line for each process it is loaded into: exactly one, the program's."""
    seen = tmp_path / "seen"
    launch(
        toy,
        "exit",
        "0",
        environment=[
            b"LD_PRELOAD=" + os.fsencode(native / "libheapwise-probe.so"),
            b"HEAPWISE_PROBE_OUT=" + os.fsencode(seen),
        ],
    )
    lines = [json.loads(line) for line in seen.read_text().splitlines()]
    assert [line["exe"] for line in lines] == [toy]


@pytest.mark.parametrize("content", [b"A", b"A=1", b"=1\0", b"A=1\0B\0"])
def test_environment_that_cannot_be_understood_is_bad_usage(native: Path, content: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    done = subprocess.run(
        [str(native / "heapwise-launch"), "--environment", str(reading), "--", "/bin/true"],
        pass_fds=[reading],
        capture_output=True,
        text=True,
        timeout=120,
    )
    os.close(reading)
    assert done.returncode == 2
    assert done.stderr.startswith("error E003: --environment")
