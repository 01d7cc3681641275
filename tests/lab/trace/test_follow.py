"""Children of a program are recorded apart, and all traces together keep the limit."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import msgspec
import pytest

from heapwise.catalog import DRAIN, RECORDER, native_part
from heapwise.runner.recording import Recorded
from heapwise.trace import Kind, open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.siblings import siblings


@dataclass(frozen=True)
class Followed:
    """Where a recording is written."""

    folder: Path

    @property
    def first(self) -> Path:
        return self.folder / "all.hwt"

    def command(self, *program: str | Path, most_bytes: int = 64 << 20) -> list[str]:
        return [
            str(native_part(DRAIN)),
            "-o",
            str(self.first),
            "--recorder",
            str(native_part(RECORDER)),
            "--follow",
            "1",
            "--max-bytes",
            str(most_bytes),
            "--about",
            '{"recording":"tested"}',
            "--result",
            str(self.folder / "result.json"),
            "--",
            *map(str, program),
        ]

    def run(self, *program: str | Path, most_bytes: int = 64 << 20) -> Recorded:
        subprocess.run(
            self.command(*program, most_bytes=most_bytes),
            check=True,
            timeout=120,
            stdout=subprocess.DEVNULL,
        )
        return self.result()

    def result(self) -> Recorded:
        return msgspec.json.decode((self.folder / "result.json").read_bytes(), type=Recorded)


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(tmp_path)


def made(trace: str | Path) -> Counter[int]:
    """How many blocks of each size."""
    found: Counter[int] = Counter()
    with open_trace(Path(trace)) as opened:
        assert not opened.damage
        for events in opened.events():
            found.update(events.size[events.makes].tolist())
    return found


@pytest.mark.parametrize("what", ["fork", "closed_fork"])
def test_a_fork_has_a_trace_of_its_own(what: str, known: Path, followed: Followed) -> None:
    """Parent and child run the same code at the same addresses, at the same time. Neither needs a
    file or a path for it."""
    parent, child = followed.run(known, what).processes
    assert child.parent == parent.pid != child.pid
    assert sum(made(parent.trace)[size] for size in range(24, 31)) == 1000
    assert sum(made(child.trace)[size] for size in range(24, 31)) == 1000
    assert made(parent.trace)[7777] == 0
    assert made(child.trace)[7777] == 500
    with open_trace(Path(child.trace)) as opened:
        assert opened.process is not None
        assert opened.process.forked
        assert not opened.process.first
        assert opened.command == [str(known), what]


@pytest.mark.parametrize("what", ["fork", "closed_fork"])
def test_calls_of_a_fork_have_their_time(what: str, known: Path, followed: Followed) -> None:
    """A child that calls soon after the last call of its parent: its ring begins with a whole
    stamp all the same."""
    for process in followed.run(known, what).processes:
        with open_trace(Path(process.trace)) as opened:
            times = [int(at) for events in opened.events() for at in events.time]
            assert 0 < times[0] < times[-1]
            assert times[-1] * opened.ns_a_unit / 1e9 < 60
            assert len(set(times)) > 500


def test_an_emulated_program_and_its_fork_have_traces_of_their_own(
    known: Path, followed: Followed
) -> None:
    """The emulator agrees to all advice about memory, and follows none. It is recorded, and so is
    the program inside it, which has the same process. What it says of the start of a child is
    the start of its parent."""
    emulator = shutil.which(f"qemu-{platform.machine()}")
    if emulator is None:
        pytest.skip("needs qemu-user")
    parent, *others = followed.run(emulator, known, "fork").processes
    blocks = {pid: Counter[int]() for pid in {each.pid for each in others}}
    for each in others:
        if each.commands[-1][0] == str(known):
            blocks[each.pid].update(made(each.trace))
    assert len(blocks) == 2
    for found in blocks.values():
        assert sum(found[size] for size in range(24, 31)) == 1000
    inside = blocks.pop(parent.pid)
    [child] = blocks.values()
    assert (inside[7777], child[7777]) == (0, 500)


def test_a_program_in_a_time_of_its_own_is_recorded_to_its_end(followed: Followed) -> None:
    """In a namespace of times its start is another moment than the drain reads."""
    own_time = ["unshare", "--user", "--time", "--boottime", "1000", "--fork"]
    if subprocess.run([*own_time, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs namespaces of times for users without rights")
    later = "import time; time.sleep(0.5); kept = [bytes(7777 - 33) for _ in range(500)]"
    processes = followed.run(*own_time, sys.executable, "-S", "-c", later).processes
    assert sum(made(each.trace)[7777] for each in processes) == 500


def test_a_daemon_is_recorded_to_its_end(known: Path, followed: Followed) -> None:
    """The program that was started ends first."""
    processes = followed.run(known, "daemon").processes
    assert made(processes[-1].trace)[7777] == 500
    assert sum(made(each.trace)[7777] for each in processes[:-1]) == 0


def test_each_trace_names_its_process(known: Path, followed: Followed) -> None:
    first, *children = followed.run(
        "sh", "-c", f"{known} keep 300; (exec {known} calls); echo $({known} churn 5)"
    ).processes
    by_argument = {each.commands[-1][1]: each for each in children if len(each.commands[-1]) > 1}
    assert {"keep", "calls", "churn"} <= by_argument.keys()
    assert first.commands[0][0] == "sh"
    assert made(by_argument["keep"].trace)[100] == 300
    assert made(by_argument["calls"].trace)[2222] == 1
    for each in children:
        with open_trace(Path(each.trace)) as opened:
            assert opened.process is not None
            assert opened.process.pid == each.pid
            assert opened.command == each.commands[-1]
            assert str(each.pid) in Path(each.trace).name
            assert {other.process.pid for other in siblings(opened)} == {
                first.pid,
                *(child.pid for child in children),
            }


def test_a_trace_of_another_recording_is_not_a_sibling(known: Path, followed: Followed) -> None:
    followed.run(known, "fork")
    (followed.folder / "other.hwt").write_bytes(
        followed.first.read_bytes().replace(b"tested", b"before")
    )
    with open_trace(followed.first) as opened:
        assert len(siblings(opened)) == 2


def test_exec_of_a_child_goes_on_in_its_trace(known: Path, followed: Followed) -> None:
    [_, *children] = followed.run("sh", "-c", f"{known} exec; true").processes
    [child] = [each for each in children if each.commands[-1][-1] == "calls"]
    assert [command[1] for command in child.commands if command[0] == str(known)] == [
        "exec",
        "calls",
    ]
    found = made(child.trace)
    assert found[5555] == found[6666] == found[2222] == 1
    with open_trace(Path(child.trace)) as opened:
        assert read_contents(opened).calls[Kind.NEW_IMAGE] >= 1


class Watched:
    """Adds up the sizes of all traces of a folder while a recording runs. What one trace gives up
    another one takes, so sizes count that two looks in a row agree on: they were there at once."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.most, self._ended = folder, 0, Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.002):
            first, second = sizes(self.folder), sizes(self.folder)
            if first == second:
                self.most = max(self.most, sum(first.values()))


def sizes(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in folder.glob("*.hwt")}


def stored(folder: Path) -> int:
    return sum(sizes(folder).values())


def test_the_limit_is_of_all_traces_together_and_each_process_has_a_part(
    known: Path, followed: Followed
) -> None:
    """Thirteen at once, none of which would fit alone, and then a small one."""
    limit = 4 << 20
    busy = " ".join(f"{known} mixed {600_000 + number} &" for number in range(12))
    with Watched(followed.folder) as watched:
        result = followed.run("sh", "-c", f"{busy} wait; {known} churn 50", most_bytes=limit)
    assert limit / 4 < watched.most <= limit
    assert stored(followed.folder) == sum(each.bytes for each in result.processes) <= limit
    assert stored(followed.folder) > limit / 4
    mixed = [each for each in result.processes if each.commands[-1][1:2] == ["mixed"]]
    assert len(mixed) == 12
    for each in mixed:
        assert each.kept_events < each.events
        with open_trace(Path(each.trace)) as opened:
            assert not opened.damage
            assert opened.summary is not None
            assert opened.summary.kept_events == each.kept_events > 0
            assert read_contents(opened).events == each.kept_events
    [small] = [each for each in result.processes if each.commands[-1][1:2] == ["churn"]]
    assert small.kept_events == small.events >= 100


def test_small_processes_cost_little(known: Path, followed: Followed) -> None:
    result = followed.run(
        "sh", "-c", f"for i in $(seq 40); do {known} churn 20; done", most_bytes=4 << 20
    )
    small = [each for each in result.processes if each.commands[-1][1:2] == ["churn"]]
    assert len(small) == 40
    assert all(each.kept_events == each.events for each in small)
    assert max(each.bytes for each in small) < 8192


def test_a_process_that_finds_no_room_is_counted_and_runs(known: Path, followed: Followed) -> None:
    """A limit with room for three traces. The drain refuses no limit, the command does."""
    result = followed.run(
        "sh", "-c", f"for i in $(seq 20); do {known} churn 20000; done", most_bytes=40_000
    )
    without = [each for each in result.processes if not each.trace]
    assert without
    assert all(each.events >= 40_000 for each in without)
    assert stored(followed.folder) <= 40_000


@pytest.mark.parametrize("number", range(5))
def test_a_child_that_is_killed_loses_only_the_call_in_the_making(
    number: int, known: Path, followed: Followed, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    count.write_bytes(bytes(8))
    recorder = subprocess.Popen(
        followed.command("sh", "-c", f"echo $$; {known} killed {count}; true")
    )
    while not any(count.read_bytes()):
        assert recorder.poll() is None
        time.sleep(0.001)
    time.sleep(0.02 * number)
    shell = _child_of(recorder.pid)
    os.kill(_child_of(shell), signal.SIGKILL)
    assert recorder.wait(120) == 0
    [_, child] = followed.result().processes
    pairs = int.from_bytes(count.read_bytes(), sys.byteorder)
    assert pairs <= made(child.trace)[32] <= pairs + 3


def _child_of(process: int) -> int:
    return int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])


def test_children_that_outlive_the_program_are_recorded_until_ctrl_c(
    known: Path, followed: Followed, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    count.write_bytes(bytes(8))
    recorder = subprocess.Popen(
        followed.command("sh", "-c", f"{known} killed {count} & true"),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert recorder.stderr is not None
    try:
        assert "Ctrl-C" in recorder.stderr.readline()
        while int.from_bytes(count.read_bytes(), sys.byteorder) <= 1000:
            assert recorder.poll() is None
            time.sleep(0.01)
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(120) == 0
        [_, left] = followed.result().processes
        assert made(left.trace)[32] > 1000
        os.kill(left.pid, 0)
    finally:
        os.killpg(recorder.pid, signal.SIGKILL)


LEAKS = """\
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void *leak_of_child(void) { return malloc(77777); }
int main(void) {
  free(malloc(10));
  if (fork() == 0) {
    void *volatile kept = leak_of_child();
    (void)kept;
    _exit(0);
  }
  wait(NULL);
  return 0;
}
"""


def test_the_list_of_processes_says_how_much_each_did_not_free(
    heapwise: Any, tmp_path: Path
) -> None:
    (tmp_path / "p.c").write_text(LEAKS)
    program, trace = tmp_path / "p", tmp_path / "all.hwt"
    subprocess.run(["cc", "-O1", "-g", "-o", program, tmp_path / "p.c"], check=True, timeout=60)
    done = heapwise("record", "--follow", "-o", str(trace), "--json", "--", str(program))
    assert done.returncode == 0, done.stderr
    _, child = msgspec.json.decode(done.stdout)["summary"]["processes"]
    said = " ".join(heapwise("trace", str(trace)).stdout.split())
    assert "76 KiB not freed): p" in said
    leaks = heapwise("trace", child["trace"]).stdout.partition("Live at the end")[2]
    assert "leak_of_child (p.c:4)" in leaks
