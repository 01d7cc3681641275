"""A report of a fault says in which files its addresses are, so that they get names later."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from heapwise.cli.frame.tell.fault_text import KINDS, fault_lines
from heapwise.trace.fault_reports import read_fault_reports

TWICE = Path(__file__).parent / "twice.c"
REPORT = Path(__file__).parents[3] / "src" / "heap" / "faults" / "fault_report.cpp"


@pytest.fixture(params=["-pie", "-no-pie"])
def twice(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    program = tmp_path / "twice"
    flags = ["-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-w"]
    code = "-fPIE" if request.param == "-pie" else "-fno-pie"
    subprocess.run(
        ["gcc", *flags, code, request.param, "-o", program, TWICE], check=True, timeout=60
    )
    return program


def test_the_functions_of_a_report_are_named(profile: Any, twice: Path, tmp_path: Path) -> None:
    file = tmp_path / "faults.json"
    done = profile.run(twice, HEAPWISE_MALLOC_REPORT=str(file), HEAPWISE_MALLOC_CALL_SITES="1")
    assert done.status == -signal.SIGABRT, done
    (report,) = read_fault_reports(file)
    text = "\n".join(fault_lines(report))
    assert text.startswith("double-free  a block was freed that was free\n")
    assert re.search(r"^  found +drop \(twice\.c:\d+\)\n +main \(twice\.c:\d+\)$", text, re.M), text
    assert re.search(r"^  allocated  make \(twice\.c:\d+\)$", text, re.M), text
    assert re.search(r"^  freed +drop \(twice\.c:\d+\)$", text, re.M), text
    assert "heapwise::" not in text


def test_the_lines_say_the_file_and_the_offset(profile: Any, twice: Path) -> None:
    """Without the option for call sites, too. The first address is in the function that frees."""
    done = profile.run(twice)
    offsets = re.findall(
        rf"^  0x[0-9a-f]+ is {re.escape(str(twice))}\+(0x[0-9a-f]+)$", done.err, re.M
    )
    assert offsets, done.err
    assert "libheapwise" not in done.err.partition("found by")[2]


def test_each_kind_of_fault_has_words() -> None:
    names = re.search(r"names = \{(.*?)\}", REPORT.read_text(), re.DOTALL)
    assert names is not None
    assert set(re.findall(r'"([\w-]+)"', names[1])) == set(KINDS)
