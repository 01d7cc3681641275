"""What the recorder writes is what the program did: nothing more, nothing less."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from heapwise.catalog import DRAIN, RECORDER, native_part
from heapwise.trace import Kind, open_trace
from heapwise.trace.contents import Contents, read_contents

Record = Callable[..., Path]


def contents(trace: Path) -> Contents:
    with open_trace(trace) as opened:
        assert not opened.damage
        return read_contents(opened)


def sizes(trace: Path) -> Counter[tuple[Kind, int]]:
    """How often each call made a block of each size."""
    found: Counter[tuple[Kind, int]] = Counter()
    with open_trace(trace) as opened:
        for events in opened.events():
            births = events.makes
            found.update(
                (Kind(kind), size)
                for kind, size in zip(
                    events.kind[births].tolist(), events.size[births].tolist(), strict=True
                )
            )
    return found


def test_every_call_is_an_event_of_its_own_kind(known: Path, record: Record) -> None:
    found = sizes(record(known, "calls"))
    assert found[Kind.MALLOC, 1111] == 3  # one of them is realloc(nullptr)
    assert found[Kind.CALLOC, 1111] == 1
    assert found[Kind.ALIGNED, 1111] == 3
    assert found[Kind.RESIZE_TO, 2222] == found[Kind.RESIZE_TO, 3333] == 1
    assert found[Kind.SCALAR_NEW, 1111] == 4
    assert found[Kind.ARRAY_NEW, 1111] == 1
    with open_trace(record(known, "calls")) as opened:
        calls = read_contents(opened).calls
    assert calls[Kind.USABLE_SIZE] == 1
    assert calls[Kind.SCALAR_DELETE] == 4
    assert calls[Kind.ARRAY_DELETE] == 1


def test_alignments_are_kept(known: Path, record: Record) -> None:
    with open_trace(record(known, "calls")) as opened:
        [events] = opened.events()
    aligned = (events.size == 1111) & (events.alignment == 6)
    assert int(aligned.sum()) == 4


def test_a_block_that_another_thread_frees_is_a_hand_over(known: Path, record: Record) -> None:
    with open_trace(record(known, "hand")) as opened:
        [events] = opened.events()
        birth = int(((events.size == 4321) & events.makes).argmax())
        ended = int(((events.block == events.block[birth]) & events.ends).argmax())
        assert events.thread[birth] != events.thread[ended]
        assert read_contents(opened).handed_over >= 1


def test_threads_that_come_and_go_share_slots_and_lose_nothing(known: Path, record: Record) -> None:
    with open_trace(record(known, "threads", "300")) as opened:
        found = read_contents(opened)
        assert opened.summary is not None
        assert opened.summary.threads == 301
        assert opened.summary.threads_missed == 0
    assert sum(found.sizes[24:31]) >= 3000
    assert found.calls[Kind.THREAD_END] == 300


def test_threads_one_after_the_other_share_one_mapping(known: Path, tmp_path: Path) -> None:
    """Else a server with a thread for each connection runs out of mappings. On a busy machine the
    reader may be late, and each of the 4,096 slots gets a mapping; never one more."""
    done = subprocess.run(
        [
            str(native_part(DRAIN)),
            "-o",
            str(tmp_path / "threads.hwt"),
            "--recorder",
            str(native_part(RECORDER)),
            "--",
            str(known),
            "mappings",
            "6000",
        ],
        check=True,
        timeout=120,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert 2 <= int(done.stdout) <= 4096 + 8


def test_a_program_that_closes_all_files_is_recorded_to_its_end(
    known: Path, record: Record
) -> None:
    """Also its new threads, which need memory of the recorder's file."""
    with open_trace(record(known, "closed", "20")) as opened:
        assert opened.summary is not None
        assert opened.summary.threads == 21
        assert opened.summary.threads_missed == 0
        assert sum(read_contents(opened).sizes[24:31]) >= 200


def test_a_forked_child_is_not_mixed_up_with_its_parent(known: Path, record: Record) -> None:
    found = sizes(record(known, "fork"))
    assert not any(size == 7777 for _, size in found)
    assert sum(count for (_, size), count in found.items() if 24 <= size < 31) == 1000


def test_exec_ends_all_blocks_and_goes_on_in_the_same_trace(known: Path, record: Record) -> None:
    trace = record(known, "exec")
    found = sizes(trace)
    assert found[Kind.MALLOC, 5555] == found[Kind.MALLOC, 6666] == 1
    assert found[Kind.CALLOC, 1111] == 1
    with open_trace(trace) as opened:
        assert opened.summary is not None
        assert opened.summary.images == 2
        assert opened.summary.end_live_bytes < 6666 + 100_000
        assert read_contents(opened).calls[Kind.NEW_IMAGE] == 2


def test_a_child_by_exec_is_counted_and_not_recorded(known: Path, record: Record) -> None:
    trace = record("sh", "-c", f"{known} keep 5000; true")
    with open_trace(trace) as opened:
        assert opened.summary is not None
        assert opened.summary.other_processes >= 1
        assert opened.summary.blocks < 5000


def test_resident_pages_of_a_large_block_are_counted(known: Path, record: Record) -> None:
    with open_trace(record(known, "large", "100")) as opened:
        [events] = opened.events()
        birth = int(((events.size == 1 << 20) & events.makes).argmax())
        ended = (events.block == events.block[birth]) & events.ends
    assert 100 <= int(events.size[ended][0]) <= 103


def test_resident_pages_of_some_medium_blocks_are_counted(known: Path, record: Record) -> None:
    """One free in 64 looks, whatever the pattern of the calls is."""
    with open_trace(record(known, "medium", "2000")) as opened:
        [events] = opened.events()
    medium = events.block[(events.size == 32 << 10) & events.makes]
    pages = events.size[events.ends & np.isin(events.block, medium)]
    assert 2 <= int((pages > 0).sum()) <= 400
    assert set(pages.tolist()) <= {0, *range(2, 9)}


@pytest.mark.parametrize(("every", "least", "most"), [(0, 0, 0), (1, 1000, 1 << 62)])
def test_all_or_none_of_the_allocations_have_stacks(
    every: int, least: int, most: int, known: Path, record: Record
) -> None:
    with open_trace(record(known, "churn", "1000", stack_every=every)) as opened:
        [events] = opened.events()
        births = int(events.makes.sum())
    assert min(least, births) <= len(events.stacks) <= min(births, most)


@pytest.mark.parametrize("what", ["root", "limits"])
def test_a_program_that_takes_its_own_rights_away_is_recorded(
    what: str, known: Path, record: Record
) -> None:
    """New threads need no file, no path and no right that the program had before."""
    if what == "root" and os.geteuid() != 0:
        pytest.skip("chroot needs root")
    with open_trace(record(known, what, "20")) as opened:
        assert opened.summary is not None
        assert opened.summary.threads == 21
        assert sum(read_contents(opened).sizes[24:31]) >= 200


def test_a_daemon_is_not_mixed_up_with_the_process_that_began_it(
    known: Path, record: Record
) -> None:
    found = sizes(record(known, "daemon"))
    assert not any(size == 7777 for _, size in found)


def test_a_library_that_is_gone_keeps_its_name(record: Record, tmp_path: Path) -> None:
    """The program loads it, calls it, and unloads it."""
    source = tmp_path / "unloaded.c"
    source.write_text("#include <stdlib.h>\nvoid *unloaded_maker(void) { return malloc(4242); }\n")
    library = tmp_path / "libunloaded.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O0", "-g", str(source), "-o", str(library)], check=True
    )
    code = (
        f"import ctypes, _ctypes; l = ctypes.CDLL({str(library)!r}); f = l.unloaded_maker; "
        "[f() for _ in range(300)]; _ctypes.dlclose(l._handle)"
    )
    from heapwise.trace.names.symbols import Symbols

    with open_trace(record("/usr/bin/python3", "-S", "-c", code, stack_every=1)) as opened:
        found = [
            (int(site), opened.site_address(int(site)))
            for events in opened.events()
            for site in np.unique(events.site[events.makes & (events.size == 4242)])
        ]
        [(_, address)] = found
        assert address is not None
        assert "unloaded_maker" in str(Symbols(opened.modules).place(address))


PROGRAMS = {
    "python3": ("-S", "-c", "import sys; d = {i: str(i) * 3 for i in range(20000)}"),
    "perl": ("-e", "my %h; $h{$_} = 'x' x ($_ % 90) for 1..5000; fork or exit; wait"),
    "redis-server": ("--version",),
    "g++": ("-fsyntax-only", "-x", "c++", "/dev/null"),
    "sqlite3": (":memory:", "create table t(a); insert into t values (zeroblob(100000))"),
    "java": ("-Xmx64m", "-version"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_real_programs_are_recorded_whole(name: str, record: Record) -> None:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    if name == "python3":
        program = "/usr/bin/python3"
    with open_trace(record(program, *PROGRAMS[name])) as opened:
        summary = opened.summary
        assert summary is not None
        assert summary.exit_code == 0
        assert summary.blocks > 0
        assert summary.threads_missed == summary.events_missed == summary.lost_ends == 0
        assert read_contents(opened).events == summary.events


HEAPS = (
    "",
    "libheapwise-malloc.so",
    "libheapwise-malloc-fast.so",
    "libheapwise-malloc-guarded.so",
    "libheapwise-malloc-hardened.so",
    "libjemalloc.so.2",
    "libtcmalloc_minimal.so.4",
)


@pytest.mark.parametrize("heap", HEAPS)
def test_calls_after_an_exception_are_recorded(
    heap: str, known: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Allocators with operators of their own throw out of them, past the recorder."""
    if heap:
        found_heap = (
            native_part(heap)
            if "heapwise" in heap
            else next(Path("/usr/lib").glob(f"*/{heap}*"), None)
        )
        if found_heap is None:
            pytest.skip(f"{heap} is not installed")
        monkeypatch.setenv("LD_PRELOAD", str(found_heap))
    found = sizes(record(known, "throw"))
    assert found[Kind.MALLOC, 1234] == 1
    assert found[Kind.MALLOC, 1235] == 10 * 20
    assert found[Kind.SCALAR_NEW, 1236] == 10


def test_a_signal_handler_that_allocates_mixes_nothing_up(tmp_path: Path) -> None:
    """Its calls while the recorder writes are left out; those of the loop are all there."""
    data = Path(__file__).resolve().parents[2] / "data" / "recorded"
    program, allocator = tmp_path / "signals", tmp_path / "bump.so"
    trace = tmp_path / "signals.hwt"
    subprocess.run(
        ["cc", "-O1", "-fno-builtin", str(data / "signals.c"), "-o", str(program)], check=True
    )
    subprocess.run(
        [
            "cc",
            "-O1",
            "-fno-builtin",
            "-shared",
            "-fPIC",
            str(data / "bump.c"),
            "-o",
            str(allocator),
        ],
        check=True,
    )
    done = subprocess.run(
        [
            str(native_part(DRAIN)),
            "-o",
            str(trace),
            "--recorder",
            str(native_part(RECORDER)),
            "--",
            "env",
            f"LD_PRELOAD={native_part(RECORDER)}:{allocator}",
            str(program),
        ],
        check=True,
        timeout=60,
        stdout=subprocess.PIPE,
        text=True,
    )
    loops, handled = map(int, done.stdout.split())
    found = sizes(trace)
    assert found[Kind.MALLOC, 111] == loops
    assert handled / 4 < found[Kind.MALLOC, 333] <= handled
    with open_trace(trace) as opened:
        assert opened.summary is not None
        assert opened.summary.lost_ends + opened.summary.unknown_ends <= 4  # it was 40


def test_a_refused_call_makes_and_ends_no_block(known: Path, record: Record) -> None:
    with open_trace(record(known, "refused")) as opened:
        [events] = opened.events()
        assert read_contents(opened).calls[Kind.FAILED] == 2
    birth = int(((events.size == 999) & events.makes).argmax())
    assert not ((events.block == events.block[birth]) & events.ends).any()


def test_the_site_of_a_block_is_the_line_of_its_call(known: Path, record: Record) -> None:
    from heapwise.trace.names.symbols import Symbols

    with open_trace(record(known, "hand", stack_every=1)) as opened:
        [events] = opened.events()
        row = int((events.size == 4321).argmax())
        address = opened.site_address(int(events.site[row]))
        assert address is not None
        symbols = Symbols(opened.modules)
        place = symbols.place(address)
        line = next(
            i
            for i, text in enumerate(
                (Path(__file__).parents[2] / "data/recorded/known.cpp").read_text().splitlines(), 1
            )
            if "malloc(4321)" in text
        )
        assert place.line == f"known.cpp:{line}"
        [stack] = [stack for stack in events.stacks if stack.row == row]
    names = [symbols.place(frame).function for frame in stack.addresses]
    assert "hand_over" in names[0]
    assert "main" in names


@pytest.mark.parametrize(
    "number",
    [*range(20), *(pytest.param(number, marks=pytest.mark.slow) for number in range(20, 200))],
)
def test_a_program_that_is_killed_loses_only_the_call_in_the_making(
    number: int, known: Path, tmp_path: Path
) -> None:
    """The program counts its own calls in a file, which is compared with the trace."""
    trace, count = tmp_path / "killed.hwt", tmp_path / "count"
    count.write_bytes(bytes(8))
    recorder = subprocess.Popen(
        [
            str(native_part(DRAIN)),
            "-o",
            str(trace),
            "--recorder",
            str(native_part(RECORDER)),
            "--",
            str(known),
            "killed",
            str(count),
        ]
    )
    while not any(count.read_bytes()):
        assert recorder.poll() is None
        time.sleep(0.001)
    time.sleep(Random(number).random() / 10)
    children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    assert recorder.wait(120) == 0
    with open_trace(trace) as opened:
        assert not opened.damage
        assert opened.summary is not None
        assert opened.summary.signal == signal.SIGKILL
        found = read_contents(opened)
    assert found.events == opened.summary.events
    pairs = int.from_bytes(count.read_bytes(), sys.byteorder)
    others = 2
    assert pairs <= int(found.sizes[32]) <= pairs + 1 + others
    assert opened.summary.end_live_blocks <= 12


def test_a_recorder_that_is_killed_leaves_what_it_wrote(known: Path, tmp_path: Path) -> None:
    trace = tmp_path / "cut.hwt"
    recorder = subprocess.Popen(
        [
            str(native_part(DRAIN)),
            "-o",
            str(trace),
            "--recorder",
            str(native_part(RECORDER)),
            "--",
            str(known),
            "killed",
        ]
    )
    while not trace.exists() or trace.stat().st_size < 200_000:
        assert recorder.poll() is None
        time.sleep(0.01)
    recorder.kill()
    recorder.wait(120)
    with open_trace(trace) as opened:
        assert "without an index" in opened.damage
        assert opened.summary is None
        found = read_contents(opened)
    assert found.events >= 65536
    assert found.events % 65536 == 0


def test_a_thread_calls_the_drain_before_its_ring_is_full(tmp_path: Path, record: Record) -> None:
    root = Path(__file__).resolve().parents[3]
    program = tmp_path / "calls_drain"
    subprocess.run(
        [
            "c++",
            "-O1",
            "-fno-builtin",
            "-std=c++20",
            f"-I{root / 'bench'}",
            f"-I{root / 'src'}",
            str(root / "tests" / "data" / "recorded" / "calls_drain.cpp"),
            "-o",
            str(program),
        ],
        check=True,
    )
    with open_trace(record(program)) as opened:
        assert opened.summary is not None
        assert opened.summary.exit_code == 0


@pytest.mark.parametrize("most_bytes", [4 << 20, 5 << 20])
def test_the_limit_of_the_size_holds_and_the_windows_span_the_run(
    most_bytes: int, known: Path, record: Record
) -> None:
    trace = record(known, "mixed", "4000000", most_bytes=most_bytes)
    assert trace.stat().st_size <= most_bytes
    with open_trace(trace) as opened:
        assert not opened.damage
        summary = opened.summary
        assert summary is not None
        assert summary.events > 8_000_000
        assert summary.kept_events < summary.events
        found = read_contents(opened)
        frames = [frame for frame in opened.frames if frame.count]
    assert found.events == summary.kept_events
    assert frames[0].first_event == 0
    assert frames[-1].first_event > summary.events / 2
    assert len({frame.window for frame in frames}) > 3


def test_ctrl_c_ends_the_program_and_leaves_a_whole_trace(known: Path, tmp_path: Path) -> None:
    """A terminal sends the signal to the command, the recorder and the program."""
    trace = tmp_path / "stopped.hwt"
    command = subprocess.Popen(
        [sys.executable, "-m", "heapwise", "record", "-o", str(trace), "--", str(known), "killed"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    while not trace.exists() or trace.stat().st_size < 200_000:
        assert command.poll() is None
        time.sleep(0.01)
    os.killpg(command.pid, signal.SIGINT)
    said, _ = command.communicate(timeout=120)
    assert command.returncode == 128 + signal.SIGINT
    assert "signal 2" in said
    with open_trace(trace) as opened:
        assert not opened.damage
        assert opened.summary is not None
        assert opened.summary.signal == signal.SIGINT
