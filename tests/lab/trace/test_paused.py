"""A recording that is paused and resumed holds what was done while it went on, and says so."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.catalog import DRAIN, PROFILER, RECORDER, native_part
from heapwise.errors import Problem
from heapwise.runner.recording import pause, resume
from heapwise.study.replay.ask import refuse_unplayable
from heapwise.trace import Kind, Summary, open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.sampled_stacks import read_sampled_stacks

Switch = Callable[[int], None]

SLEEPS = 4
"""The first may come after a look that was before the signal; it may also wait for a file."""


def phases(
    known: Path, trace: Path, *options: str, after: dict[int, Switch], library: str = RECORDER
) -> None:
    """Records the program. At the end of a phase, what is ``after`` it is called with the
    process."""
    command = subprocess.Popen(
        [
            str(native_part(DRAIN)),
            "-o",
            str(trace),
            "--recorder",
            str(native_part(library)),
            *options,
            "--",
            str(known),
            "phases",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert command.stdin is not None
    assert command.stdout is not None
    for phase in range(3):
        assert command.stdout.read(1) == b"x"
        [program] = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
        if phase in after:
            after[phase](int(program))
            wait_until_heard(command.pid)
        command.stdin.write(b"x")
        command.stdin.flush()
    assert command.wait(120) == 0


def wait_until_heard(recorder: int) -> None:
    """Returns when it has acted on its signals: it looks at them between two sleeps."""
    while any(int(status_of(recorder, name), 16) for name in ("SigPnd", "ShdPnd")):
        time.sleep(0.001)
    slept = int(status_of(recorder, "voluntary_ctxt_switches"))
    while int(status_of(recorder, "voluntary_ctxt_switches")) < slept + SLEEPS:
        time.sleep(0.001)


def status_of(process: int, name: str) -> str:
    """Throws once the process is not there any more."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{name}:"))


def summary_and_sizes(trace: Path) -> tuple[Summary, dict[int, int]]:
    with open_trace(trace) as opened:
        assert opened.summary is not None
        sizes = read_contents(opened).sizes
        return opened.summary, {size: int(sizes[size]) for size in (901, 701, 702, 703)}


def test_calls_in_a_pause_are_not_recorded(known: Path, tmp_path: Path) -> None:
    trace = tmp_path / "paused.hwt"
    phases(known, trace, after={0: pause, 1: resume})
    summary, sizes = summary_and_sizes(trace)
    assert sizes == {901: 1, 701: 100, 702: 0, 703: 100}
    assert summary.pauses == 1
    assert 0 < summary.paused_s < 60
    assert summary.unknown_ends >= 1  # of the block that lived through the pause
    with open_trace(trace) as opened:
        assert read_contents(opened).calls[Kind.RESUMED] == 1
        with pytest.raises(Problem, match="paused"):
            refuse_unplayable(opened)


def test_a_trace_that_starts_in_the_middle_says_what_is_not_known(
    known: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "late.hwt"
    phases(known, trace, "--start-paused", "1", after={1: resume})
    summary, sizes = summary_and_sizes(trace)
    assert sizes == {901: 0, 701: 0, 702: 0, 703: 100}
    assert summary.unknown_ends >= 1
    said = subprocess.run(
        [sys.executable, "-m", "heapwise", "trace", str(trace)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    assert "Paused    1 time" in said
    assert "of blocks from before left out" in said


def test_a_profile_knows_the_ends_of_its_samples_after_a_pause(known: Path, tmp_path: Path) -> None:
    trace = tmp_path / "profile.hwt"
    about = '{"sample_every": 64}'
    phases(
        known,
        trace,
        "--sample-every",
        "64",
        "--stack-every",
        "1",
        "--about",
        about,
        after={0: pause, 1: resume},
        library=PROFILER,
    )
    with open_trace(trace) as opened:
        found = read_sampled_stacks(opened).samples
        assert opened.summary is not None
        assert opened.summary.unknown_ends == 0
    assert int((found.size == 702).sum()) == 0
    assert int((found.size == 703).sum()) == 100
    [kept] = found.lifetime[found.size == 901]
    assert kept > 0


def test_a_process_that_is_not_recorded_cannot_be_paused() -> None:
    with pytest.raises(Problem) as refused:
        pause(1)
    assert refused.value.id == "E011"
