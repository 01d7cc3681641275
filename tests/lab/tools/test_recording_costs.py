"""What recording costs beside other recorders: which commands are run, and the table."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recording.measure import (
    _later,
    _missing,
    measure_limit,
    measure_start,
    measure_turns,
    turned,
    ways_of,
)
from recording.page import page
from recording.programs import RealProgram
from recording.rivals import LOCK, Rivals, find_rivals
from recording.run import Cost, run

ROOT = Path(__file__).resolve().parents[3]
PYTHON3 = RealProgram(
    "python3", ["/usr/bin/python3", "-s", "records.py"], None, {}, Path("/nowhere"), []
)
GAWK = RealProgram("gawk", ["gawk", "-f", "count.awk"], None, {}, Path("/nowhere"), [])


def test_each_recorder_runs_what_it_can_record() -> None:
    both = Rivals("/usr/bin/heaptrack", Path("/env/bin/python"))
    assert set(ways_of(GAWK, both)) == {"plain", "heapwise", "profile", "heaptrack"}
    ways = ways_of(PYTHON3, both)
    assert set(ways) == {
        "plain",
        "heapwise",
        "profile",
        "heaptrack",
        "plain, memray's python",
        "memray",
    }
    assert ways["plain, memray's python"] == ["/env/bin/python", "records.py"]
    assert ways["memray"][-1] == "records.py"
    assert set(ways_of(PYTHON3, Rivals())) == {"plain", "heapwise", "profile"}


def test_each_way_is_the_first_of_a_round_as_often_as_the_others() -> None:
    names = ["plain", "heapwise", "heaptrack"]
    orders = [turned(names, number) for number in range(6)]
    assert all(sorted(each) == sorted(names) for each in orders)
    assert [order[0] for order in orders] == names * 2


def test_memray_is_pinned_with_hashes() -> None:
    lock = LOCK.read_text()
    wanted = LOCK.with_suffix(".in").read_text().split()[0]
    assert f"{wanted} " in lock
    assert "--hash=sha256:" in lock.split(wanted)[1].split("==")[0]


def test_a_recorder_that_is_missing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SystemExit, match="heaptrack is not installed"):
        find_rivals(["memray"])
    assert find_rivals(["memray", "heaptrack"]) == Rivals()


LEAVES_A_SERVER = "sleep 1000 & echo $! >number.new; mv number.new number; {}"
INTERRUPTED = """
import signal
import sys
from pathlib import Path
from recording.run import be_interrupted_by_sigterm, run
be_interrupted_by_sigterm()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
run(["sh", "-c", sys.argv[1]], Path.cwd())
"""


def _waited(is_so: Callable[[], bool]) -> bool:
    """Whether it came true. The time is only the end of a test that fails."""
    last = time.monotonic() + 60
    while not is_so() and time.monotonic() < last:
        time.sleep(0.01)
    return is_so()


def _has_ended(number: int) -> bool:
    try:
        # What nobody has waited for is still listed (proc(5): field 3, behind the name).
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize("end", ["kill -ABRT $$", "exit 0"])
def test_processes_that_a_command_leaves_running_are_ended(tmp_path: Path, end: str) -> None:
    command = ["sh", "-c", LEAVES_A_SERVER.format(end)]
    if end == "exit 0":
        assert run(command, tmp_path).output == b""
    else:
        with pytest.raises(subprocess.CalledProcessError):
            run(command, tmp_path)
    server = int((tmp_path / "number").read_text())
    assert _waited(lambda: _has_ended(server))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_measurement_ends_what_it_has_started(
    tmp_path: Path, sent: signal.Signals
) -> None:
    file = tmp_path / "number"
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, LEAVES_A_SERVER.format("wait")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        stderr=subprocess.DEVNULL,
    ) as measurement:
        assert _waited(file.exists)
        server = int(file.read_text())
        assert not _has_ended(server)
        measurement.send_signal(sent)
        try:
            measurement.wait(60)
        finally:
            measurement.kill()
    assert measurement.returncode != 0
    assert _waited(lambda: _has_ended(server))


def test_a_command_is_ended_if_its_start_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def start_and_interrupt(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*words, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start_and_interrupt)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(["sleep", "1000"], tmp_path)
        assert started[0].returncode == -signal.SIGKILL
    finally:
        signal.signal(signal.SIGINT, handler)
        started[0].kill()


def test_the_page_says_which_recorder_failed() -> None:
    figures = {
        "wall_s": {"plain": [1.0, 2.0], "heapwise": [1.1, 2.2]},
        "processor_s": {"plain": [0.0, 0.01], "heapwise": [0.01, 0.01]},
        "failed": {"heaptrack": "exit status 1"},
        "processes": 3,
        "events": 200_000,
        "bytes": 100_000,
    }
    text = page({"machine": "Test CPU", "processors": 2, "programs": {"redis": figures}})
    assert "| redis | 1.500 | 1.100 | - | - | fails | - | 3 | 200,000 | 0.50 |" in text


def test_the_page_judges_the_worst_profiled_program() -> None:
    def timed(profile: float) -> dict[str, object]:
        return {
            "wall_s": {"plain": [1.0], "heapwise": [1.0], "profile": [profile]},
            "processor_s": {},
            "processes": 1,
            "events": 1,
            "bytes": 1,
        }

    kept = {
        "machine": "Test CPU",
        "processors": 2,
        "programs": {"perl": timed(1.004), "gawk": timed(1.02)},
    }
    line = "| time with a sampled profile, {} | at most 0.5 % more | median {}, worst {} | {} |"
    assert line.format("2 programs", "+1.2%", "+2.0% (gawk)", "no") in page(kept)
    del kept["programs"]["gawk"]  # type: ignore[attr-defined]
    assert line.format("1 programs", "+0.4%", "+0.4% (perl)", "yes") in page(kept)


def test_the_page_says_what_it_takes_to_start() -> None:
    wall = {"plain": [0.001] * 7, "heapwise": [0.004, *[0.005] * 5, 0.006], "profile": [0.003] * 7}
    text = page(
        {
            "machine": "Test CPU",
            "processors": 2,
            "start": {"wall_s": wall, "processor_s": {**wall, "profile": [0.0015] * 7}},
        }
    )
    assert (
        "takes 4.0 ms (95 % CI 3.0 to 5.0) longer if it is recorded, and 2.0 ms (95 % CI 2.0 "
        "to 2.0) with a sampled profile; 4.0 ms (95 % CI 3.0 to 5.0) and 0.5 ms"
    ) in text


def test_the_start_is_measured(tmp_path: Path) -> None:
    found = measure_start(tmp_path, 2)
    assert [len(each) for each in found["wall_s"].values()] == [2, 2, 2]
    assert min(found["processor_s"]["profile"]) > 0


def test_the_cost_of_an_event_is_a_median_with_its_interval() -> None:
    def cost(first: int) -> dict[str, list[float]]:
        rounds = [float(first + each) for each in range(7)]
        return {
            "wall_ns": rounds,
            "program_ns": rounds,
            "processor_ns": [2 * each for each in rounds],
        }

    load = {
        f"{threads}, {stacks}": cost(20 if threads == "1 thread" else 30)
        for threads in ("1 thread", "8 threads")
        for stacks in ("caller only", "a stack of 1 in 256")
    }
    text = page({"machine": "Test CPU", "processors": 2, "load": load})
    assert (
        "| cost of an event, 1 thread, caller only | at most 25 ns | 23 ns (95 % CI 20 to 26) "
        "of the program's time; 23 ns (95 % CI 20 to 26) of its processor time; 46 ns (95 % CI "
        "40 to 52) of processor time with the drain's | yes |"
    ) in text
    assert "at most 1.2 | 1.43 (95 % CI 1.38 to 1.50); the threads wait" in text
    assert "without what starts take" not in text  # figures of an earlier version
    for name, each in load.items():
        later = 38 if name.startswith("1 thread") else 45
        each |= {"later_ns": [float(later)] * 7, "starts_ms": [2.0] * 7}
    text = page({"machine": "Test CPU", "processors": 2, "load": load})
    assert (
        "| the same without what starts take, caller only | at most 1.2 | 45 / 38 ns = 1.18 "
        "(95 % CI 1.18 to 1.18); starts take 2.0 ms (95 % CI 2.0 to 2.0) of processor time "
        "with 8 threads, 2.0 ms (95 % CI 2.0 to 2.0) with one | yes |"
    ) in text
    assert "as many live blocks" not in text
    load["1 thread with the blocks of 8, caller only"] = {
        "later_ns": [30.0] * 7,
        "starts_ms": [1.0] * 7,
    }
    text = page({"machine": "Test CPU", "processors": 2, "load": load})
    assert (
        "| the same beside 1 thread with as many live blocks | at most 1.2 | 45 / 30 ns = 1.50 "
        "(95 % CI 1.50 to 1.50);"
    ) in text
    load["1 thread, caller only"]["wall_ns"] = [25.1]
    assert "| 25 ns of the program's time" in page({"machine": "", "processors": 2, "load": load})


def test_the_time_of_starts_is_told_from_that_of_events() -> None:
    def cost(processor: float, events: int) -> Cost:
        return Cost(0.0, processor, f"0.0 0.0 {events}".encode())

    million = 10**6
    # 40 ns an event, and 5 ms for the starts.
    found = _later(
        (cost(0.01, million), cost(0.055, million)),
        (cost(0.04, 4 * million), cost(0.205, 4 * million)),
    )
    assert found == pytest.approx({"later_ns": 40.0, "starts_ms": 5.0})


def test_the_page_judges_how_fast_a_trace_is_read() -> None:
    each = {
        "events": 10**9,
        "kept": 10**8,
        "bytes": 1 << 24,
        "events_per_s": 55e6,
        "events_per_processor_s": 41e6,
        "reader_bytes": 50 << 20,
    }
    text = page({"machine": "Test CPU", "processors": 2, "limit": {"16": each}})
    line = "| reading 16 MiB: speed | at least 50 M events/s | {} | {} |"
    assert line.format("55 M; 41 M in a second of processor time", "yes") in text
    assert "were not counted" not in text
    each |= {"missing": 0, "seconds": 41.2}
    counted = "| its calls that were not counted, limit 16 MiB | none | {} of 1,000,000,000; {} |"
    text = page({"machine": "Test CPU", "processors": 2, "limit": {"16": each}})
    assert counted.format(0, "recorded in 41 s | yes") in text
    each["missing"] = 3
    text = page({"machine": "Test CPU", "processors": 2, "limit": {"16": each}})
    assert counted.format(3, "recorded in 41 s | no") in text
    del each["events_per_processor_s"]
    each["events_per_s"] = 45e6
    assert line.format("45 M", "no") in page(
        {"machine": "", "processors": 2, "limit": {"16": each}}
    )


def test_a_limit_is_measured_with_all_calls(tmp_path: Path) -> None:
    found = measure_limit(tmp_path, 4_000_000, [4])["4"]
    assert found["missing"] == 0
    assert found["bytes"] <= 4 << 20
    assert 0 < found["kept"] < found["events"]
    assert found["events"] >= 4_000_000


@pytest.mark.parametrize(
    "change", [{"calls": [0] * 8 + [99]}, {"lost_ends": 1}, {"events_missed": 1}]
)
def test_calls_that_are_missing_or_wrong_are_counted(change: dict[str, Any]) -> None:
    right = {"calls": [0] * 8 + [100], "events_missed": 0, "unknown_ends": 0, "lost_ends": 0}
    assert _missing(right, 100) == 0
    assert _missing({**right, **change}, 100) == 1


def test_the_page_says_what_a_change_of_threads_takes() -> None:
    turns = {
        "1 thread": {"instructions": 2000, "events": 10, "changes": 0},
        "8 threads that pass after each call": {"instructions": 5000, "events": 20, "changes": 10},
    }
    text = page({"machine": "Test CPU", "processors": 2, "turns": turns})
    assert "| at most 1.2 | 250 / 200 = 1.25; 100 for a change of threads | no |" in text


def test_threads_by_turns_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is installed has no symbols; it comes from this build.
    built = Path(__file__).resolve().parents[3] / "build" / "wheel" / "native"
    if built.is_dir():
        monkeypatch.setenv("HEAPWISE_NATIVE", str(built))
    monkeypatch.setattr(
        "recording.measure.TURNS", (("1 thread", 1, 2000, 0), ("3 threads", 3, 4000, 1))
    )
    found = measure_turns(tmp_path)
    assert found["1 thread"]["changes"] < 10
    assert found["3 threads"]["changes"] > 15_000  # 12,000 if they passed after two calls
    assert all(each["instructions"] > 100 * each["events"] for each in found.values())


@pytest.mark.skipif(not shutil.which("heaptrack"), reason="heaptrack is not installed")
def test_one_command_measures_and_writes_the_page(tmp_path: Path) -> None:
    results, target = tmp_path / "costs.json", tmp_path / "page.md"
    command = [
        sys.executable,
        "-m",
        "recording",
        "--only",
        "programs",
        "--program",
        "gawk",
        "--small",
        "--rounds",
        "2",
        "--without",
        "memray",
        "--results",
        str(results),
        "--page",
        str(target),
    ]
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "tools"}, check=True, timeout=120
    )
    figures = json.loads(results.read_text())["programs"]["gawk"]
    assert set(figures["wall_s"]) == {"plain", "heapwise", "profile", "heaptrack"}
    assert all(len(times) == 2 for times in figures["wall_s"].values())
    assert figures["events"] > 0
    assert "| gawk |" in target.read_text()
