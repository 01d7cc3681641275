"""What was seen of one process and of one repeat: the facts of a ``Process`` and of a ``Sample``.

The launcher, the probes and the experiments print these structs as lines of JSON; a test runs them
and compares their keys with the fields. A fact that is ``None`` was not recorded, or could not be,
and has no key on the disk. Keys that no field has are passed over, those of later versions too.
"""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import msgspec

LEAST, MOST = -(2**62), 2**62
Count = Annotated[int, msgspec.Meta(ge=LEAST, le=MOST)]
Number = Count | Annotated[float, msgspec.Meta(ge=-1e100, le=1e100)]
"""Beyond these limits squares overflow, and nothing that is measured is near them."""


class Record(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Part of a line. It refers to nothing that refers back, so it needs no garbage collector."""


class Library(Record, frozen=True):
    """A shared library, or the program itself, that defines a function."""

    path: str | None = None
    build_id: str | None = None


class Identity(Record, frozen=True):
    """A line of the probe: where the allocation functions of one process come from."""

    pid: Count | None = None
    exe: str = ""
    malloc: Library | None = None
    free: Library | None = None
    new: Library | None = None
    preload: str | None = None
    affinity: list[Count] | None = None
    count: Count = 1
    """How many processes wrote this line."""


class Calls(msgspec.Struct, frozen=True, gc=False):
    """Calls of each kind; ``operator new`` and ``delete`` count as ``malloc`` and ``free``."""

    malloc: Count = 0
    calloc: Count = 0
    realloc: Count = 0
    free: Count = 0
    aligned: Count = 0

    @property
    def requests(self) -> int:
        """Calls that ask for memory."""
        return self.malloc + self.calloc + self.realloc + self.aligned


class CountLine(Record, frozen=True):
    """A line of the counting probe. Only the totals of a process tree are stored.

    ``sizes[k]`` is the number of requests of more than 2^(k-1) and at most 2^k bytes.
    """

    pid: Count | None = None
    exe: str = ""
    calls: Calls = msgspec.field(default_factory=Calls)
    bytes_requested: Count = 0
    peak_live: Count | None = None
    """Bytes, as the allocator rounds them up; None from a probe of an older version."""

    wall_s: Number = 0.0
    sizes: list[Count] | None = None


class Clock(Record, frozen=True):
    """The clock of an experiment: its step, and the time that one reading takes."""

    resolution_ns: Number | None = None
    overhead_ns: Number | None = None


class Start(Record, frozen=True):
    """The first line of an experiment's process."""

    kind: str = ""
    schema: Count | None = None
    experiment: str | None = None
    subject: str | None = None
    parameters: dict[str, Any] | None = None
    repeats: Count | None = None
    seed: Count | None = None
    smoke: bool | None = None
    plant_ns: Number | None = None
    """Nanoseconds that were added to every operation to see whether they are found."""

    pid: Count | None = None
    compiler: str | None = None
    flags: str | None = None
    ndebug: bool | None = None
    affinity: list[Count] | None = None
    clock: Clock | None = None
    malloc: Library | None = None


class End(Record, frozen=True):
    """The last line of an experiment's process.

    ``expected_calls``: how many requests its loops make in the process and its children.
    """

    kind: str = ""
    expected_calls: Count | None = None


class WorkCheck(msgspec.Struct, frozen=True, gc=False):
    """An experiment's check of its own work."""

    id: str = ""
    ok: bool = True
    detail: str = ""


class Processor(Record, frozen=True):
    """A processor that the program may use, visited before and after it. All times are those of the
    same work: ``spin`` grows with a lower clock, ``breadth`` if something shares the core."""

    cpu: Count | None = None
    spin_before_ns: Number | None = None
    spin_after_ns: Number | None = None
    breadth_before_ns: Number | None = None
    breadth_after_ns: Number | None = None


class Counter(Record, frozen=True):
    """A counter of perf_event_open, from the program's exec on, with all that it started."""

    name: str = ""
    value: Count = 0
    enabled_ns: Count = 0
    running_ns: Count = 0
    """Less than ``enabled_ns`` if counters took turns: then ``value`` is a part of the whole."""

    kernel: bool = True
    """Whether the kernel's work for the program is in ``value`` too."""


class LostExec(Record, frozen=True):
    """Execs of one target after which the probe wrote no line in the new program."""

    target: str = ""
    preload: str = ""
    """What the caller handed over: ``kept``, ``changed``, ``dropped``, or ``silent``, which is kept
    without the place to report to."""

    count: Count = 0


class ProbeFacts(Record, frozen=True):
    """What the launcher found in the probe's lines of all processes."""

    processes: Count = 0
    """Program starts that the probe saw from inside."""

    omitted: Count = 0
    """Those of them whose line was left out, since too many lines differ."""

    cut: bool = False
    """The file reached its limit, so lines are missing."""

    execs: Count = 0
    lost_execs: Count = 0
    lost: list[LostExec] = []
    """Up to 20 different ones of ``lost_execs``."""


class MemoryCurve(Record, frozen=True):
    """The memory of all processes of a tree together, at some moments, in KiB.

    Columns of equal length, one value for each moment that was kept. ``proportional_kib``: a page
    that several processes share counts in equal parts. ``lazy_free_kib``: of the private pages,
    those that the kernel may take back at any time. The time is that since the program's start.
    """

    looks: Count = 0
    """How often the memory was read. Every second one was dropped when there were too many to
    keep."""

    cost_ns: Count = 0
    """Processor time of all looks together: at most a thousandth of the program's time."""

    peak_kib: Count = 0
    """The peak of all looks, the dropped ones too."""

    peak_at_ms: Count = 0
    most_unmapped_kib: Count = 0
    """The most of all looks: memory of memfd and /dev/shm files that are open and not mapped. It is
    part of ``peak_kib`` and of ``proportional_kib``."""

    last_kib: Count = 0
    last_at_ms: Count = 0
    at_ms: list[Count] = []
    proportional_kib: list[Count] = []
    private_kib: list[Count] = []
    shared_kib: list[Count] = []
    lazy_free_kib: list[Count] = []
    swap_kib: list[Count] = []
    processes: list[Count] = []
    unread: list[Count] = []
    """Processes that may not be looked at."""

    counted: list[bool] = []
    """Whether the kernel counted every page. Else the resident size was read, and what is shared
    was taken from the count before."""

    @property
    def mean_kib(self) -> float:
        """Over the time from the first moment to the last, on straight lines between moments."""
        moments = list(zip(self.at_ms, self.proportional_kib, strict=True))
        if len(moments) < 2 or moments[0][0] == moments[-1][0]:
            return sum(self.proportional_kib) / max(1, len(moments))
        area = sum(
            (later - at) * (kib + next_kib) / 2
            for (at, kib), (later, next_kib) in itertools.pairwise(moments)
        )
        return area / (moments[-1][0] - moments[0][0])


class GroupMemory(Record, frozen=True):
    """What the kernel charged to a control group (version 2) in KiB, page cache and memory of the
    kernel included. None: nobody looked, or this kernel does not say."""

    own: bool = False
    """The group was made for this process and what it started. Else it is the one around the
    launcher, which holds other processes."""

    entering_us: Count = 0
    """That the process took to get into its group, which is not part of its time."""

    before_kib: Count | None = None
    """The memory of the other processes, when this one started."""

    peak_kib: Count | None = None
    """By the kernel, since the group was made."""

    most_kib: Count | None = None
    """The most of all looks."""

    parts_at_ms: Count | None = None
    """The moment of the next figures, near the largest look."""

    parts_kib: Count | None = None
    """All of them together, as the kernel counts them."""

    swap_kib: Count | None = None
    anonymous_kib: Count | None = None
    file_kib: Count | None = None
    """Pages of files that this group was the first to use, and shared memory."""

    shared_memory_kib: Count | None = None
    inactive_file_kib: Count | None = None
    """Pages of files, and anonymous pages that the kernel may take back at any time."""

    kernel_kib: Count | None = None
    """Page tables, stacks and other objects of the kernel."""

    socket_kib: Count | None = None
    limit_kib: Count | None = None
    """The least of the group and of those around it that can be seen."""

    kills: Count | None = None
    """Processes of the group that the kernel killed because memory was short."""


class ChangedName(Record, frozen=True):
    """A file, socket, port or key that a program changed or asked for, and what it did first."""

    name: str = ""
    how: str = ""
    """made, written, removed, replaced, bound, connected, locked or used."""

    exclusive: bool = False
    """The call fails if the name is there already, or if another process made it first."""

    numbered: bool = False
    """It holds the number of the process, or of one from which that descends."""


class ChangedNames(Record, frozen=True):
    """The names that a program and its children changed, by the kernel, which told of each such
    call before it was made. What lies in a folder that the program made itself is left out."""

    missing: str | None = None
    """Why it is not known what it changed; then ``names`` may be a part."""

    names: list[ChangedName] = []
    more: Count = 0
    """Names that were not kept."""


class LauncherFacts(Record, frozen=True):
    """The launcher's result. Times and faults are sums over the process tree."""

    schema: Count | None = None
    wall_s: Number | None = None
    user_s: Number | None = None
    system_s: Number | None = None
    peak_rss_bytes: Count | None = None
    """The high-water mark of the largest process."""

    minor_faults: Count | None = None
    major_faults: Count | None = None
    voluntary_switches: Count | None = None
    involuntary_switches: Count | None = None
    exit_code: Count | None = None
    signal: Count | None = None
    signal_name: str | None = None
    timed_out: bool | None = None
    stop_signal: str | None = None
    output_bytes: Count | None = None
    output_hash: str | None = None
    error_bytes: Count | None = None
    written_elsewhere_bytes: Count | None = None
    """What it wrote to files, pipes and devices other than its stdout and stderr, as far as the
    kernel says (/proc/self/io). What is sent to sockets, or written to shared memory, is not in it.
    """

    changed_names: ChangedNames | None = None
    """None: nobody looked. A process that is looked at is not timed."""

    affinity: list[Count] | None = None
    slice_ns: Count | None = None
    """For a process that ran beside others: how long it has the processor before another. 0: the
    kernel has no such setting."""

    spin_before_ns: Number | None = None
    spin_after_ns: Number | None = None
    processors: list[Processor] | None = None
    steal_ticks: Count | None = None
    psi_cpu_us: Count | None = None
    throttled_periods: Count | None = None
    """In which a limit of the control groups stopped processes; and for how long."""

    throttled_us: Count | None = None
    counters: list[Counter] | None = None
    counters_missing: str | None = None
    """Names of those that could not be opened, and why."""

    launcher_rss_bytes: Count | None = None
    start_error: str | None = None
    lingering: Count | None = None
    """Processes of the tree that outlived the program and were killed."""

    late_s: Number | None = None
    """From the program's end to that of the last process that it left; 0 if it left none."""

    late_cpu_s: Number | None = None
    """Used by those processes, before its end too."""

    late_output_bytes: Count | None = None
    """That came after its end."""

    stopped_by: str | None = None
    start_ns: Count | None = None
    """By the monotonic clock, like the end."""

    end_ns: Count | None = None
    memory: MemoryCurve | None = None
    """None: nobody looked, or the program ended before."""

    group: GroupMemory | None = None
    """None: nobody asked, or no control group counts the memory."""

    group_missing: str | None = None
    """Why the program had no control group of its own."""

    probe: ProbeFacts | None = None

    @property
    def cpu_s(self) -> float | None:
        """User and system time."""
        if self.user_s is None or self.system_s is None:
            return None
        return self.user_s + self.system_s


class WindowFacts(Record, frozen=True):
    """A part of the load of one server. Times since the server's start and latencies in seconds;
    rate in requests a second. Windows of one server depend on each other.
    """

    began_s: Number = 0.0
    ended_s: Number = 0.0
    requests: Count = 0
    rate: Number = 0.0
    latency_p50: Number | None = None
    latency_p99: Number | None = None
    warm_up: bool = False


class LoadFacts(Record, frozen=True):
    """What a load generator did to a server and found. Times since the server's start, in seconds.

    ``open_loop``: requests were sent by a schedule, and latencies count from the planned moment.
    """

    generator: str = ""
    open_loop: bool = False
    intended_rate: Number | None = None
    """Requests a second; None: as many as were answered."""

    achieved_rate: Number = 0.0
    schedule_share: Number | None = None
    """Part of the schedule's time whose requests were answered, of a generator that draws the
    moments of its requests and logs them; None: it sends evenly, or does not tell."""

    requests: Count = 0
    errors: Count = 0
    generator_cpu: Number | None = None
    """Its processor time over that of the processors that it had."""

    server_cpu_s: Number | None = None
    """Processor time of the server while the load lasted; only of servers that ran at once."""

    ready_s: Number | None = None
    began_s: Number | None = None
    ended_s: Number | None = None
    stopped_s: Number | None = None
    """When the server was told to end, after the idle phase."""

    histogram: str | None = None
    """Latencies in microseconds, as HdrHistogram encodes them."""

    windows: list[WindowFacts] = []
    """Empty: the load was one. Else the other fields are of those after the warm-up."""

    def share(self) -> float | None:
        """Part of the intended rate that was reached; None if none was intended. A number of
        requests that is drawn varies by its square root though each is answered, so the
        schedule's own share goes first."""
        if not self.intended_rate:
            return None
        if self.schedule_share is not None:
            return float(self.schedule_share)
        return float(self.achieved_rate) / float(self.intended_rate)


FAILED_BESIDE = "beside others: "
"""So begins the reason of a process that failed beside others."""


class Beside(Record, frozen=True):
    """The facts of a process that ran at the same time as others, on the same processor."""

    baseline: Count = 0
    """The number of the baseline's process among them."""

    processes: Count = 0
    """How many ran at once, this one included."""

    place: Count = 0
    """Which of them was started as the first, 0, the second, 1, and so on."""

    prepared: Count = 0
    """Which of their launchers was prepared as the first, 0, the second, 1, and so on."""

    overlap: Number = 0.0
    """The share of its time in which each of the others ran, too; of the one that did so least."""

    fillers: Count = 0
    """How often its program was started again, uncounted, until the last of them had ended."""

    runs: Count = 1
    """How often its program ran one after the other so that it counts. The other facts are of the
    first run."""

    cpu_s: list[Number] | None = None
    """The processor time of each of these runs, in their order; None if one is not known."""


class ProcessFacts(LauncherFacts, frozen=True):
    """The launcher's result, and what the runner adds to it."""

    start: Start | None = None
    end: End | None = None
    checks: list[WorkCheck] | None = None
    load: LoadFacts | None = None
    """What the load of a server was."""

    noise_lines: Count | None = None
    """Lines on the stdout of an experiment that are not JSON objects."""

    reported: dict[str, Number] | None = None
    """What a program that is a subject printed of itself."""

    output_files: dict[str, str] | None = None
    """File that the user, or the program's declaration, names -> a hash of what the process wrote
    into it."""

    stderr_tail: str | None = None
    counting: bool = False
    """The process was not timed: the counting probe was inside. The next facts are its totals."""

    calls: Calls | None = None
    bytes_requested: Count | None = None
    peak_live_bytes: Count | None = None
    """Most that was allocated and not freed at once, as the allocator rounds sizes up; of the
    process of the tree that had most."""

    sizes: list[Count] | None = None
    counted_wall_s: Number | None = None
    """The time of the longest process of the tree."""

    instructions: Count | None = None
    """The instructions of the first process of the tree, in user space, as cachegrind counted
    them."""

    startup_s: Number | None = None
    """The least that an empty program took under the same allocator: what a start costs."""

    beside: Beside | None = None
    """For a process that was measured side by side with others."""

    plain_wall_s: Number | None = None
    """The time of a process with the same work that was timed."""

    @property
    def cpu_s_beside(self) -> float | None:
        """The processor time of a run of a process that was measured side by side with others: the
        mean of its runs that count; None if it is not known."""
        times = self.beside and self.beside.cpu_s
        return sum(times) / len(times) if times else self.cpu_s


class SampleFacts(Record, frozen=True):
    """Facts of one repeat, of its timed regions together and of the moments before and after."""

    elapsed_ns: Number | None = None
    operations: Number | None = None
    shortest_region_ns: Number | None = None
    minor_faults: Count | None = None
    involuntary_switches: Count | None = None
    threads: Count | None = None
    spin_ns: Number | None = None
    """The smaller of the two: the least time that a fixed chain of instructions took."""

    spin_before_ns: Number | None = None
    spin_after_ns: Number | None = None
    breadth_before_ns: Number | None = None
    """The time of eight chains side by side, which take longer while another process shares the
    core."""

    breadth_after_ns: Number | None = None
    waited_ns: Number | None = None
    cpus: list[Count] | None = None
