"""What the user chose beside the plan's numbers, and what the plan has to remember."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from heapwise.model.author_output import AuthorOutput
from heapwise.model.cell import Setting
from heapwise.model.facts import Count
from heapwise.model.gate import BuildPlace, GateOptions
from heapwise.options import ProcessOptions

ProgramAlone = Callable[[Sequence[str]], list[str]]
"""Leaves the program of a command, and a mark for each word after it."""

LIBRARY_PATH = "LD_LIBRARY_PATH"
"""The variable of the loader that processes keep: without it a program may not start, or start with
other libraries than those that its user means."""


class FileState(msgspec.Struct, frozen=True):
    """What a file is known by. ``sha256`` is "" for one that may be executed but not read: then
    another time means another file."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


class EnvironmentMarks(msgspec.Struct, frozen=True):
    """By which values of the environment that are not stored are recognised.

    ``key`` is the name of the store's key, without which ``values`` cannot be compared.
    """

    key: str
    values: dict[str, str]


class Reproduction(msgspec.Struct, frozen=True):
    """A run of the experiments of a published report, in its cells.

    report: its name, or the absolute path of its file. changes: experiment -> settings that this
    run has instead of the report's. output: an absolute path for the files; "" for the run's own
    folder. author_outputs: what the author's program printed on this machine.
    """

    report: str
    cells: dict[str, list[dict[str, Setting]]]
    changes: dict[str, dict[str, Setting]] = {}
    output: str = ""
    pdf: bool = False
    author_outputs: list[AuthorOutput] = []


class PoolCandidate(msgspec.Struct, frozen=True):
    """Call sites whose blocks come from a pool or an arena in one subject of a replay.

    place: function and line, or module and offset, of the site with most blocks. others: of sites
    that share it. blocks: how many they make. block_size: of the largest, in bytes. policy:
    unsynchronized, thread_cached, sized (a pool for each size class) or arena. looks: in words,
    sizes, lifetime and end of the blocks; "" in runs of earlier versions. node: what the blocks are
    in a container of the C++ library, such as ``_List_node<order>``; "" if that is not known.
    """

    subject: str
    place: str
    block_size: Count
    blocks: Count
    policy: str
    script: str
    others: list[str] = []
    looks: str = ""
    node: str = ""


class Replay(msgspec.Struct, frozen=True):
    """A run that plays a trace. trace, script: absolute paths; the script was made of the trace.
    command: of the recorded program. The other fields are the coverage of the trace: what was
    recorded, and what was missed. peak_live_bytes: of the trace, and of the script."""

    trace: str
    script: str
    command: list[str]
    calls: Count = 0
    threads: Count = 0
    handed_over: Count = 0
    unknown_ends: Count = 0
    missed_calls: Count = 0
    missed_threads: Count = 0
    other_processes: Count = 0
    peak_live_bytes: Count = 0
    script_peak_live_bytes: Count = 0
    candidates: list[PoolCandidate] = []
    """Empty: every subject plays ``script``."""

    without_pool: list[str] = []
    """Call sites with many blocks that can have neither a pool nor an arena, and why."""

    quantity: str = "time"
    """By which the candidates are judged. It is chosen before anything is measured."""

    window: Count | None = None
    """The part of the run that is played; None: all of it. Then peak_live_bytes is 0."""

    prepared: Count = 0
    """Blocks that live where the window begins. They are made before the time is taken."""


class ServerOptions(msgspec.Struct, frozen=True):
    """How a server is measured. The words of ``load`` and of the server's command, and ``ready``,
    may hold ``{port}`` and ``{folder}``, those of ``load`` also ``{rate}`` and ``{time}``.

    ready: ``tcp:PORT``, ``http:URL``, ``line:REGEX`` or ``command:COMMAND``. prepare: a shell's
    commands before each server. load_cpus: empty if the generator has the server's processors.
    """

    ready: str
    load: list[str]
    prepare: list[str] = []
    rates: list[float] = []
    """Shares of the capacity of the slowest. Empty: the load has no rate."""

    load_s: float = 10.0
    window_s: float = 0.0
    """The load is cut into windows of this length; 0: it is one."""

    idle_s: float = 5.0
    beside_s: float = 0.0
    """The load of each of two servers that run at once; 0: none do."""

    ready_s: float = 30.0
    server_cpus: list[Count] = []
    load_cpus: list[Count] = []
    recipe: str = ""

    @property
    def typed_words(self) -> list[str]:
        """What the user typed beside the names of programs."""
        return [*self.load[1:], *self.prepare, self.ready.partition(":")[2]]

    def without_words(self, alone: ProgramAlone, mark: str) -> ServerOptions:
        """The kind of the question whether it is ready stays, and the program of the load."""
        return msgspec.structs.replace(
            self,
            ready=f"{self.ready.partition(':')[0]}:{mark}",
            load=alone(self.load),
            prepare=[mark] * len(self.prepare),
        )


class FleetOrigin(msgspec.Struct, frozen=True):
    """The origin of a run that is the part of one machine in a fleet run.

    fleet: the id of the fleet run. environment: what the shell of the client had, as a run stores
    it; the processes must have nothing else (V20).
    """

    fleet: str
    machine: str
    environment: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class PlanOptions(ProcessOptions):
    """The options of ``compare`` and of ``run``. One that a kind of plan does not have has its
    default."""

    cpus: list[Count] = field(default_factory=list)
    most_rounds: Count = 0

    repeats: Count | None = None
    """For each process of an experiment; None: as many as the experiment declares."""

    chosen_repeats: dict[str, Count] | None = None
    """Experiment -> repeats of its processes after the first rounds; None: nothing was chosen yet.
    """

    together_from: Count | None = None
    """The first round in which subjects ran beside the baseline; None: there is none yet."""

    most_beside: Count = 0
    """Subjects that ran at once beside a baseline, at most, so that all fit into memory."""

    asks_first: bool = False
    """Subjects would have run beside the baseline, but the program may write files, and two of it
    might spoil each other's: the user has to ask for it."""

    slice_s: float = 0.0
    """For which one of them has the processor before the next; 0: as the kernel does."""

    runs_beside: Count = 1
    """How often each of them ran in a group, one run after the other."""

    keeps_rows: bool = False
    """Rows that are told apart from the baseline have rounds as long as the others: they are
    compared with each other, too."""

    rounds_given: bool = False
    """The user asked for this number of rounds."""

    as_typed: list[str] = field(default_factory=list)
    """The command before the program was looked up."""

    time_given: bool = False
    """The user limited the time: the limit holds although there may be too few rounds."""

    removed_environment: list[str] = field(default_factory=list)
    environment_changed: list[str] = field(default_factory=list)
    """Names of variables with other values than when the run began."""

    environment_marks: EnvironmentMarks | None = None
    files: dict[str, FileState] | None = None
    """Those that decide what is measured. None: the run is of a version that did not store them."""

    reproduction: Reproduction | None = None
    """None: the run is not that of a published report."""

    replay: Replay | None = None
    """None: the run does not play a trace."""

    server: ServerOptions | None = None
    """None: what is measured is not a server."""

    places: dict[str, BuildPlace] = field(default_factory=dict)
    """Build -> where its random layouts are, of a step of ``bisect --relink``."""

    gate: GateOptions | None = None
    """None: the run is not a gate."""

    fleet: FleetOrigin | None = None
    """None: the run was started on its machine."""

    not_utf8: bool = False
    """A name that a later invocation needs is not UTF-8, and the store cannot hold it."""

    @property
    def report(self) -> str:
        """The name or the file of the published report whose cells are measured; "": of none."""
        return self.reproduction.report if self.reproduction is not None else ""

    @property
    def words_of_load(self) -> list[str]:
        """What the user typed of the load of a server."""
        return self.server.typed_words if self.server is not None else []

    def without_words(self, alone: ProgramAlone, mark: str) -> PlanOptions:
        """Without what the user typed of a load, or recorded of a command. mark: for what is left
        out."""
        replay, server = self.replay, self.server
        if replay is not None:
            replay = msgspec.structs.replace(replay, command=alone(replay.command))
        if server is not None:
            server = server.without_words(alone, mark)
        return dataclasses.replace(self, replay=replay, server=server)
