"""The counts of repeated fault programs, on programs that end in each way."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from collector_faults import PROGRAMS, End, FaultProgram, filter_of, repeat, run

ROOT = Path(__file__).resolve().parents[3]
SAYS_PASSED = "echo '[doctest] test cases: 1 | 1 passed | 0 failed | 5 skipped'"


def program(folder: Path, *lines: str) -> FaultProgram:
    binary = folder / "program"
    binary.write_text("\n".join(("#!/bin/sh", *lines, "")))
    binary.chmod(0o755)
    return FaultProgram("F0", "program", "a case, with a comma")


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        ((SAYS_PASSED,), End.WELL),
        ((SAYS_PASSED, "exit 1"), End.FAILED),
        (("echo '[doctest] test cases: 0 | 0 passed | 0 failed | 6 skipped'",), End.FAILED),
        (("kill -SEGV $$",), End.CRASHED),
    ],
)
def test_each_way_to_end_is_told_from_the_others(
    tmp_path: Path, lines: tuple[str, ...], ended: End
) -> None:
    assert run(program(tmp_path, *lines), tmp_path, limit_s=60) is ended


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    hangs = program(tmp_path, "sleep 1000 &", f"echo $! > {tmp_path}/child", "wait")
    assert run(hangs, tmp_path, limit_s=5) is End.HUNG
    child = int((tmp_path / "child").read_text())
    # A busy machine takes its time to end a process that was killed.
    patience_s = time.monotonic() + 30
    while _lives(child) and time.monotonic() < patience_s:
        time.sleep(0.01)
    assert not _lives(child)


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_runs_are_counted_for_each_program() -> None:
    programs = [FaultProgram("F0", "binary", f"case {each}") for each in range(2)]
    ends = iter([End.WELL, End.HUNG, End.CRASHED, End.WELL])
    counts = repeat(programs, 2, 1, lambda _: next(ends))
    assert counts.bad() == 2
    assert [re.sub(r"[\d.]+ \|$", "", each) for each in counts.lines()][2:] == [
        "| F0 | case 0 | 2 | 0 | 1 | 0 | ",
        "| F0 | case 1 | 2 | 0 | 0 | 1 | ",
    ]


def test_every_program_is_a_test_of_the_tree() -> None:
    for each in PROGRAMS:
        folder, name = re.fullmatch(r"(unit|stress)_gc_(\w+)_test", each.binary).groups()  # type: ignore[union-attr]
        place = f"unit/gc/{name.replace('_', '/', 1)}" if folder == "unit" else f"stress/gc_{name}"
        source = (ROOT / "tests" / f"{place}_test.cpp").read_text()
        assert f'TEST_CASE("{each.case}"' in source


def test_a_comma_does_not_end_the_name() -> None:
    assert filter_of("one, and two") == "one? and two"
