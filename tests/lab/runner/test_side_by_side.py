"""Two real processes at once on one processor."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from heapwise.model import LauncherFacts, ProcessFacts
from heapwise.runner.executors.beside import judged_together
from heapwise.runner.process.launch import Launch, Outcome
from heapwise.runner.process.process_status import Reference
from heapwise.runner.process.side_by_side import SideBySide, Together, overlap
from heapwise.runner.process.stop_switch import StopSwitch

CPU = min(os.sched_getaffinity(0))


def spinning(seconds: float, cpu: int = CPU) -> Launch:
    """A program that needs about this much processor time."""
    code = f"import time\nwhile time.process_time() < {seconds}: pass"
    return Launch([sys.executable, "-S", "-c", code], dict(os.environ), 60.0, cpus=[cpu])


def run(folder: Path, *launches: Launch) -> list[Together]:
    """One group, and the fillers that it leaves."""
    groups = SideBySide()
    with StopSwitch() as stop:
        try:
            return groups.run(launches, folder, stop)
        finally:
            groups.finish(stop)


def test_both_run_at_once_and_both_are_timed(tmp_path: Path) -> None:
    first, second = (one.outcome.facts for one in run(tmp_path, spinning(0.1), spinning(0.1)))
    for facts in first, second:
        assert facts.exit_code == 0
        assert facts.cpu_s is not None
        assert facts.cpu_s > 0.05
        assert facts.start_ns is not None
        assert facts.end_ns is not None
    assert first.start_ns < second.end_ns  # type: ignore[operator]
    assert second.start_ns < first.end_ns  # type: ignore[operator]


def test_each_is_a_session_of_its_own(tmp_path: Path) -> None:
    """A kernel that shares a processor between sessions would give all of them one share."""
    files = [tmp_path / name for name in ("first", "second")]
    code = "import os, sys; open(sys.argv[1], 'a').write(f'{os.getsid(0)} ')"
    launches = [
        Launch([sys.executable, "-S", "-c", code, str(file)], dict(os.environ), 60.0, cpus=[CPU])
        for file in files
    ]
    run(tmp_path / "runs", *launches)
    sessions = [set(file.read_text().split()) for file in files]
    assert all(sessions)
    assert not sessions[0] & sessions[1]
    assert str(os.getsid(0)) not in sessions[0] | sessions[1]


@pytest.mark.parametrize("longer", [0, 1])
def test_the_longer_one_never_has_the_processor_to_itself(tmp_path: Path, longer: int) -> None:
    seconds = [0.1, 0.1]
    seconds[longer] = 0.8
    found = run(tmp_path, spinning(seconds[0]), spinning(seconds[1]))
    assert found[1 - longer].fillers >= 3
    assert found[longer].fillers == 0
    assert min(one.overlap for one in found) > 0.8
    assert [one.outcome.facts.exit_code for one in found] == [0, 0]


def test_several_run_beside_each_other(tmp_path: Path) -> None:
    found = run(tmp_path, *(spinning(seconds) for seconds in (0.05, 0.1, 0.15, 0.05)))
    assert [one.outcome.facts.exit_code for one in found] == [0] * 4
    assert found[2].fillers == 0
    assert min(one.overlap for one in found) > 0.6


@pytest.mark.parametrize("longer", [0, 1])
def test_each_may_run_several_times_in_a_group(tmp_path: Path, longer: int) -> None:
    """All of them follow one another, and only then come fillers."""
    seconds = [0.1, 0.1]
    seconds[longer] = 0.3
    launches = [spinning(each) for each in seconds]
    groups = SideBySide()
    with StopSwitch() as stop:
        found = groups.run(launches, tmp_path, stop, counts=3)
        groups.finish(stop)
    for one in found:
        runs = [each.facts for each in (one.outcome, *one.later)]
        assert [facts.exit_code for facts in runs] == [0, 0, 0]
        ends = [(facts.start_ns or 0, facts.end_ns or 0) for facts in runs]
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(ends))
        assert one.overlap > 0.8
    assert found[longer].fillers == 0
    assert found[1 - longer].fillers >= 3


def test_a_later_run_has_to_do_its_work_too() -> None:
    fine = Outcome(ProcessFacts(exit_code=0, output_hash="a", user_s=1.0, system_s=0.0))
    failed = Outcome(ProcessFacts(exit_code=3, output_hash="a", user_s=1.0, system_s=0.0))
    other = Outcome(ProcessFacts(exit_code=0, output_hash="b", user_s=1.0, system_s=0.0))
    reference = Reference("a", 0)

    def judged(*later: Outcome) -> tuple[str, Outcome]:
        status, _, which = judged_together(Together(fine, later, overlap=1.0), None, reference)
        return status, which

    assert judged(fine, fine) == ("ok", fine)
    assert judged(fine, failed) == ("failed", failed)
    assert judged(other, failed) == ("output_differs", other)


def test_the_user_can_stop_a_later_run(tmp_path: Path) -> None:
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with StopSwitch() as stop:
        began_s = time.monotonic()
        found = SideBySide().run([spinning(0.2), spinning(0.2)], tmp_path, stop, counts=100)
        took_s = time.monotonic() - began_s
    assert all(one.outcome.interrupted for one in found)
    assert took_s < 20


CPUS = sorted(os.sched_getaffinity(0))


def leaving(folder: Path, seconds: float, cpu: int = CPU) -> Launch:
    """A program that ends at once. When it is started again it takes this long, says its number,
    and leaves a file at its end."""
    script = (
        f"[ -e {folder}/once ] && echo $$ >{folder}/number && sleep {seconds} "
        f"&& touch {folder}/whole; touch {folder}/once"
    )
    return Launch(["/bin/sh", "-c", script], dict(os.environ), 60.0, cpus=[cpu])


def test_a_filler_runs_to_its_end(tmp_path: Path) -> None:
    found = run(tmp_path / "runs", leaving(tmp_path, 2), spinning(0.2))
    assert found[1].outcome.facts.exit_code == 0
    assert found[0].fillers == 1
    assert (tmp_path / "whole").exists()


def test_a_filler_that_outlives_the_group_was_beside_it(tmp_path: Path) -> None:
    found = run(tmp_path / "runs", leaving(tmp_path, 2), spinning(0.5))
    assert found[1].overlap > 0.9


@pytest.mark.skipif(len(CPUS) < 2, reason="one processor")
def test_fillers_end_while_the_next_group_runs_on_another_processor(tmp_path: Path) -> None:
    groups, chance = SideBySide(), random.Random(1)
    with StopSwitch() as stop:
        first = groups.choose(CPUS[:2], chance)
        groups.run([leaving(tmp_path, 3, first), spinning(0.1, first)], tmp_path / "runs", stop)
        assert groups.left == 1
        second = groups.choose(CPUS[:2], chance)
        found = groups.run([spinning(0.1, second)] * 2, tmp_path / "runs", stop)
        assert not (tmp_path / "whole").exists()
        groups.finish(stop)
    assert {first, second} == set(CPUS[:2])
    assert [one.outcome.facts.exit_code for one in found] == [0, 0]
    assert (tmp_path / "whole").exists()
    assert groups.left == 0


def test_a_group_waits_for_the_fillers_of_its_processor(tmp_path: Path) -> None:
    groups = SideBySide()
    with StopSwitch() as stop:
        groups.run([leaving(tmp_path, 1), spinning(0.1)], tmp_path / "runs", stop)
        assert groups.choose([CPU], random.Random(1)) == CPU
        groups.run([spinning(0.1), spinning(0.1)], tmp_path / "runs", stop)
        assert (tmp_path / "whole").exists()
        groups.finish(stop)


@pytest.mark.parametrize("when", ["while they are waited for", "beside the next group", "before"])
def test_a_user_who_stops_the_run_leaves_no_filler_behind(tmp_path: Path, when: str) -> None:
    groups, other = SideBySide(), CPUS[-1]
    with StopSwitch() as stop:
        groups.run([leaving(tmp_path, 50), spinning(0.1)], tmp_path / "runs", stop)
        if when == "before":
            signal.raise_signal(signal.SIGINT)
        else:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        if other != CPU and when == "beside the next group":
            found = groups.run([spinning(30, other)] * 2, tmp_path / "runs", stop)
            assert all(one.outcome.interrupted for one in found)
        groups.finish(stop)
    assert not (tmp_path / "whole").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "number").read_text()), 0)


def test_fillers_are_closed_when_they_have_ended(tmp_path: Path) -> None:
    """A program of a millisecond ends hundreds of times beside one of seconds."""
    short = Launch(["/bin/true"], dict(os.environ), 60.0, cpus=[CPU])
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_files = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files + 50, before[1]))
    try:
        found = run(tmp_path, short, spinning(1.0))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert found[0].fillers > 50
    assert [one.outcome.facts.exit_code for one in found] == [0, 0]
    assert found[1].overlap > 0.1  # all of them count in it


def test_a_program_that_does_not_exist_is_told_as_such(tmp_path: Path) -> None:
    absent = Launch(["/no/such/program"], dict(os.environ), 60.0, cpus=[CPU])
    found = run(tmp_path, absent, spinning(0.05))
    assert found[0].outcome.facts.start_error
    assert found[1].outcome.facts.exit_code == 0


def test_the_user_can_stop_a_pair(tmp_path: Path) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    found = run(tmp_path, spinning(30), spinning(30))
    assert all(one.outcome.interrupted for one in found)


@pytest.mark.parametrize(
    ("beside", "share"),
    [
        ([(0, 100)], 1.0),
        ([(0, 50)], 0.5),
        ([(-50, 25), (50, 150)], 0.75),
        ([(100, 200)], 0.0),
        ([], 0.0),
    ],
)
def test_overlap_is_the_share_of_the_longer(beside: list[tuple[int, int]], share: float) -> None:
    longer = LauncherFacts(start_ns=0, end_ns=100)
    others = [LauncherFacts(start_ns=start, end_ns=end) for start, end in beside]
    assert overlap([longer], others) == share


def test_unknown_times_have_an_overlap_of_zero() -> None:
    assert overlap([LauncherFacts()], [LauncherFacts(start_ns=0, end_ns=1)]) == 0.0


def test_the_overlap_of_several_runs_is_that_of_their_whole_time() -> None:
    runs = [LauncherFacts(start_ns=start, end_ns=end) for start, end in ((0, 100), (110, 410))]
    beside = [LauncherFacts(start_ns=0, end_ns=50), LauncherFacts(start_ns=60, end_ns=370)]
    assert overlap(runs, beside) == (50 + 40 + 260) / 400


def test_a_pair_that_is_stopped_before_it_began_is_interrupted(tmp_path: Path) -> None:
    with StopSwitch() as stop:
        for _ in range(3):  # the third kills a launcher, as one that has just been started
            signal.raise_signal(signal.SIGINT)
        found = SideBySide().run([spinning(0.1), spinning(0.1)], tmp_path, stop)
    assert [one.outcome.interrupted for one in found] == [True, True]
