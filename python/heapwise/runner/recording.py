"""Runs a program under the recorder, which writes a trace of what it allocates and frees."""

from __future__ import annotations

import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import msgspec
from msgspec import structs

from heapwise import __version__
from heapwise.catalog import DRAIN, PROFILER, RECORDER, native_part
from heapwise.errors import Problem
from heapwise.machine import machine_fingerprint, read_machine
from heapwise.model.json_value import Json
from heapwise.processors import usable_processors
from heapwise.runner.living_profile import profile_advice
from heapwise.runner.plan.preflight import preflight
from heapwise.runner.unrecorded import (
    Unrecorded,
    is_starter,
    only_lists,
    partly_recorded,
    unrecorded,
)
from heapwise.store.codec import encode
from heapwise.trace import OtherProgram, Summary
from heapwise.trace.names.perf_map import keep_perf_map
from heapwise.wording.numbers import size

LEAST_BYTES = 4 << 20
"""The least size of a trace: below, no window has room for a useful number of events."""

DRAIN_NAMED = re.compile(rb"(?:^|\0)HEAPWISE_RECORD=/proc/(\d+)/fd/\d+")
"""In the environment of a recorded program: the process that writes its trace."""

STACK_EVERY = 256

STDERR = 2

SAMPLE_EVERY = 512 << 10
SHARED_BYTES = 24 << 20
"""Below this limit of file sizes there may be no room for what the program shares with the process
that writes its trace: a file in memory."""

MOST_COMMAND_BYTES = 16 << 10
"""A trace names this much of the command."""

LEAST_GAP = 64
"""Bytes between two samples. Below, nearly every block is one, so a full trace costs less."""


@dataclass(frozen=True)
class Recording:
    """What to record. trace: the file to write. most_bytes: it never grows beyond.
    stack_every: of how many allocations of a thread one has its stack; 0: none. sample_every: of a
    profile, the mean number of bytes from one sample to the next; 0 to write down every call.
    frame_pointers: stacks are found by them, not by unwind tables. starts_paused: record nothing
    until ``resume``. follows: its children are recorded, too, each in a trace of its own.
    keeps_stdout: what the program writes to stdout goes to stderr; stdout is the caller's."""

    command: Sequence[str]
    trace: Path
    most_bytes: int = 256 << 20
    stack_every: int = STACK_EVERY
    sample_every: int = 0
    starts_paused: bool = False
    force: bool = False
    frame_pointers: bool = False
    follows: bool = False
    keeps_stdout: bool = False


class RecordedProcess(msgspec.Struct, frozen=True):
    """A process of a recording. trace: empty if the limit of the size left no room for one. bytes:
    of the trace. asked_bytes: of all its blocks together. commands: the arguments of each program
    that the process was. program: the path of the last one that was recorded. other_program: what
    the process became after it, without the recorder."""

    trace: str
    pid: int
    parent: int
    events: int
    kept_events: int
    blocks: int
    bytes: int
    commands: list[list[str]]
    asked_bytes: int = 0
    program: str = ""
    other_program: OtherProgram | None = None


class NotWritten(msgspec.Struct, frozen=True):
    """A trace that could not be written to its end."""

    path: str
    reason: str


class Recorded(Summary, frozen=True):
    """Totals of the first process, and all processes in the order in which they began.
    children_without: other programs that they started, into which the recorder was not loaded.
    still_running: processes of the program that go on, as a daemon does; none if children are
    followed."""

    processes: list[RecordedProcess] = msgspec.field(default_factory=list)
    children_without: list[OtherProgram] = msgspec.field(default_factory=list)
    not_written: NotWritten | None = None
    still_running: int = 0

    def missed(self) -> Unrecorded | None:
        """The program that was to be recorded and was not, or only in part.

        A shell, or another program that starts one, is the program itself, unless it has started
        only such that were not recorded."""
        first = self.processes[0]
        if first.other_program is not None:
            return unrecorded(first.other_program)
        if first.program and len(first.commands) > 1 and (found := partly_recorded(first.program)):
            return found
        others = self.other_processes + len(self.processes) - 1
        programs = [each for each in self.children_without if not only_lists(each)]
        if is_starter(first.program) and programs and not others:
            return replace(unrecorded(programs[-1]), way="started")
        return None


def record(wanted: Recording) -> Recorded:
    """Runs the program to its end, with the terminal's streams.

    Problems: E010 if it cannot be started, E02x if the recorder cannot be loaded into it, E050 if
    the trace cannot be begun, E003 for a size below LEAST_BYTES.
    """
    if wanted.most_bytes < LEAST_BYTES:
        raise Problem(
            "E003",
            f"--max-size {wanted.most_bytes} is below 4M",
            do="heapwise record --max-size 64M -- PROGRAM",
        )
    if 0 < wanted.sample_every < LEAST_GAP:
        raise Problem(
            "E003",
            f"--sample-every {wanted.sample_every} is below {LEAST_GAP}",
            do="heapwise record --profile --sample-every 512k -- PROGRAM",
        )
    found = preflight(wanted.command[0], force=wanted.force)
    facts = _about(wanted, found.program)
    about = encode(facts).decode()
    _expect_writable(wanted.trace)
    with tempfile.TemporaryDirectory(prefix="heapwise-record-") as folder:
        result = Path(folder, "result.json")
        drain = subprocess.Popen(
            [
                str(native_part(DRAIN)),
                *_options(wanted),
                "--about",
                about,
                "--result",
                str(result),
                "--",
                str(found.program),
                *wanted.command[1:],
            ],
            stdout=STDERR if wanted.keeps_stdout else None,
            close_fds=False,  # what a shell opened for the program, as by <(...)
        )
        with _signals_for(drain):
            ended = drain.wait()
        if not result.exists():
            raise Problem(
                "E056",
                f"no trace was written (exit {ended})",
                why="The process that writes it has ended early.",
                do=_of_file_sizes(),
            )
        found_out = msgspec.json.decode(result.read_bytes(), type=Recorded)
    for each in found_out.processes:
        if each.trace:
            keep_perf_map(Path(each.trace), each.pid, str(facts["recorded"]))
    left = [] if wanted.follows else _processes_of(drain.pid)
    return structs.replace(found_out, still_running=len(left))


def _of_file_sizes() -> str:
    """What to do if the memory that is shared with the program, a file, may not be large enough; ""
    if that is not limited."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit in (resource.RLIM_INFINITY, -1) or limit >= SHARED_BYTES:
        return ""
    return f"raise the limit of file sizes, now {size(limit)}: ulimit -f unlimited"


def _processes_of(drain: int) -> list[int]:
    """Those that began with the environment that this drain gave its program."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            named = DRAIN_NAMED.search((folder / "environ").read_bytes())
            if named and int(named[1]) == drain:
                found.append(int(folder.name))
    return found


def _expect_writable(trace: Path) -> None:
    """Problem E050 before the program is started. Makes the file."""
    try:
        with trace.open("ab"):
            pass
    except OSError as error:
        raise Problem(
            "E050",
            f"{trace} cannot be written: {error.strerror}",
            why="Nothing was recorded.",
            do=f"record into another folder: -o /tmp/{shlex.quote(trace.name)}",
        ) from error


def _options(wanted: Recording) -> list[str]:
    library = PROFILER if wanted.sample_every else RECORDER
    return [
        "-o",
        str(wanted.trace),
        "--recorder",
        str(native_part(library)),
        "--max-bytes",
        str(wanted.most_bytes),
        "--stack-every",
        str(wanted.stack_every),
        "--frame-pointers",
        str(int(wanted.frame_pointers)),
        "--sample-every",
        str(wanted.sample_every),
        "--start-paused",
        str(int(wanted.starts_paused)),
        "--follow",
        str(int(wanted.follows)),
    ]


def trace_of(process: int) -> Path:
    """The file that holds what this process, or the first of its recording, allocates. Problem E011
    if it is not recorded."""
    drain = _drain_of(process)
    try:
        words = Path(f"/proc/{drain}/cmdline").read_bytes().split(b"\0")
        folder = Path(f"/proc/{drain}/cwd").readlink()
    except OSError as error:
        raise Problem("E011", f"process {process} cannot be looked at: {error.strerror}") from error
    first = folder / os.fsdecode(words[words.index(b"-o") + 1])
    own = first.with_name(f"{first.stem}.{process}{first.suffix}")
    return own if own.exists() else first


def pause(process: int) -> None:
    """Stops the recording of this process, which runs on. Problem E011 if it is not recorded."""
    os.kill(_drain_of(process), signal.SIGUSR1)


def resume(process: int) -> None:
    """Begins or continues the recording of this process. Problem E011 if it is not recorded."""
    os.kill(_drain_of(process), signal.SIGUSR2)


def _drain_of(process: int) -> int:
    """The process that writes the trace: the environment of a recorded program names its file."""
    try:
        environment = Path(f"/proc/{process}/environ").read_bytes()
        found = DRAIN_NAMED.search(environment)
        drain = int(found[1]) if found else process
        if Path(f"/proc/{drain}/comm").read_text().strip() == DRAIN[:15]:
            return drain
    except OSError as error:
        raise Problem("E011", f"process {process} cannot be looked at: {error.strerror}") from error
    raise Problem(
        "E011",
        f"process {process} runs without the recorder",
        why="The recorder takes the place of malloc when a program starts. It cannot enter a "
        "process that runs already.",
        do=profile_advice(process)
        or "start it with heapwise record --start-paused -- PROGRAM; or heapwise watch "
        f"{process}, which shows its memory over time",
    )


@contextmanager
def _signals_for(drain: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ctrl-C is for the program, which the terminal sends it to. A signal that is to end this
    command is for the program, too: the recorder hands it on, and then writes the rest."""

    def hand_on(number: int, _: object) -> None:
        drain.send_signal(number)

    before = {
        each: signal.signal(each, hand_on)
        for each in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(each) is not signal.SIG_IGN
    }
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        for each, way in before.items():
            signal.signal(each, way)


def _shortened(command: Iterable[str]) -> list[str]:
    """The text about a trace is one argument of the drain, which the kernel limits to 128 KiB. As
    JSON, a byte of the command takes up to six."""
    kept: list[str] = []
    left = MOST_COMMAND_BYTES
    for word in command:
        left -= len(os.fsencode(word)) + 1
        if left < 0:
            return [*kept, "…"]
        kept.append(word)
    return kept


def _about(wanted: Recording, program: Path) -> dict[str, Json]:
    """What a reader of the trace wants to know. No environment: it may hold secrets."""
    return {
        "command": _shortened(wanted.command),
        "program": str(program),
        "working_directory": str(Path.cwd()),
        "heapwise": __version__,
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_fingerprint(read_machine()),
        "processors": len(usable_processors()),
        "stack_every": wanted.stack_every,
        "sample_every": wanted.sample_every,
        **({"recording": uuid4().hex} if wanted.follows else {}),
    }
