"""The nouns of the laboratory, as frozen dataclasses.

Every other package speaks in these; this one imports none of our code. What is written to disk is
exactly these classes as JSON (see ``schema/``), so a change here is a change of the schema version.

Units are in the names or in ``Quantity.unit``; times on disk are seconds or nanoseconds as named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA_VERSION = 1

RUN_ID = r"[A-Za-z0-9_-]{1,64}"
EXPERIMENT_ID = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63})?"
"""``compare``, or a family and a name: files are named like it, so it never leads elsewhere."""

Better = Literal["lower", "higher"]
Verdict = Literal["pass", "warn", "fail", "unavailable"]
Status = Literal[
    "ok", "crashed", "failed", "timed_out", "output_differs", "wrong_allocator", "refused",
    "discarded", "interrupted",
]


@dataclass(frozen=True)
class Quantity:
    """One number that a repeat yields: ``wall_time`` in ``s``, ``alloc_fresh`` in ``ns/op``."""

    name: str
    unit: str
    better: Better
    meaning: str = ""


@dataclass(frozen=True)
class Parameter:
    """A setting of an experiment. ``default`` and ``smoke`` list the values that are crossed."""

    name: str
    meaning: str
    default: list[Any]
    smoke: list[Any]
    unit: str = ""


@dataclass(frozen=True)
class SubjectSpec:
    """What one row measures, as an experiment declares it.

    kind: ``inline`` runs as it is; ``malloc`` is expanded by the runner to one subject per
    installed preloadable peer, each in a process of its own (``malloc@glibc``, ...); ``program``
    is a program in itself. ``group``: subjects of different groups never share a ranking.
    """

    name: str
    kind: Literal["inline", "malloc", "program"]
    title: str
    available: bool = True
    reason: str = ""
    command: list[str] = field(default_factory=list)
    """What is started instead of the experiment's binary; ``{depth}`` is a parameter's value."""

    environment: dict[str, str] = field(default_factory=dict)
    group: str = ""
    version: str = ""
    note: str = ""


@dataclass(frozen=True)
class SeedFigure:
    """A figure of the seed document, to be printed beside ours."""

    subject: str
    quantity: str
    parameters: dict[str, Any]
    value: float
    unit: str
    machine: str


@dataclass(frozen=True)
class Expectation:
    """What an experiment expects of itself: physics that is known before it is measured.

    The value of ``subject`` in the cells that ``parameters`` name (what is not named is free: every
    such cell must hold), or its ratio to ``over`` in the same cell changed by ``over_parameters``,
    lies between ``at_least`` and ``at_most`` (None: no upper bound).
    """

    says: str
    quantity: str
    subject: str
    over: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    over_parameters: dict[str, Any] = field(default_factory=dict)
    at_least: float = 0.0
    at_most: float | None = None


@dataclass(frozen=True)
class Experiment:
    """What ``<binary> --describe`` prints."""

    schema: int
    id: str
    family: str
    question: str
    isolates: str
    not_shown: str
    parameters: list[Parameter]
    quantities: list[Quantity]
    subjects: list[SubjectSpec]
    baseline: str
    repeats: int
    dropped_repeats: int
    seed: str | None
    seed_figures: list[SeedFigure] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)
    binary: str = ""

    @property
    def unit(self) -> str:
        return self.quantities[0].unit

    @property
    def is_of_programs(self) -> bool:
        """Its subjects are programs, which the launcher starts and times from outside."""
        return any(spec.command for spec in self.subjects)

    def spec(self, subject: str) -> SubjectSpec | None:
        """What it declares of a subject; a control is its baseline."""
        name = subject.removesuffix("-control")
        return next((spec for spec in self.subjects if spec.name in (subject, name)), None)

    @property
    def better(self) -> Better:
        return self.quantities[0].better


@dataclass(frozen=True)
class Peer:
    """An allocator that we compare with, as ``peers/<name>/peer.toml`` declares it, resolved.

    ``path`` is the preloadable library found on this machine, ``""`` for the system's own malloc,
    ``None`` when it is not installed (then ``get`` says how to get it).
    """

    name: str
    title: str
    kind: Literal["system", "preload"]
    path: str | None
    version: str
    build_id: str
    get: str
    licence: str
    environment_prefixes: list[str] = field(default_factory=list)
    notes: str = ""
    debug_build: bool = False
    known_faults: list[str] = field(default_factory=list)
    """Promises of malloc that this version is known to break: said, and no surprise."""

    environment: dict[str, str] = field(default_factory=dict)
    """What its makers tell every user of it to set; its processes get it, and no others."""


@dataclass(frozen=True)
class Machine:
    """What this computer is. ``unavailable`` maps a facility to the reason that it is missing."""

    host: str
    user: str
    cpu: str
    cores: int
    memory_bytes: int
    caches: dict[str, int]
    kernel: str
    distribution: str
    libc: str
    page_bytes: int
    facts: dict[str, Any] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """What one row measures, resolved: a peer under ``compare``, or an experiment's subject."""

    name: str
    title: str
    peer: Peer | None = None
    baseline: bool = False
    control: bool = False
    """True for the second label of the baseline (the A/A pair), which is never ranked."""


MARKS, FILES = "environment_marks", "files"
"""Options of a plan that only the store of the run has a use for: ``redact`` leaves them out."""


@dataclass(frozen=True)
class Plan:
    """Everything that decides what is run; with it and the store a run can be resumed."""

    kind: Literal["compare", "run"]
    command: list[str]
    experiments: list[str]
    parameters: dict[str, list[Any]]
    subjects: list[Subject]
    seed: int
    min_rounds: int
    max_rounds: int
    time_s: float
    precision: float
    warm_up_rounds: int
    timeout_s: float
    input_path: str | None = None
    smoke: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    working_directory: str = ""
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Process:
    """One child process, as the launcher and the probe saw it. One line of ``samples.jsonl``.

    ``parameters`` are the settings of the cell (without ``quantity``). ``facts`` holds what the
    launcher printed (wall_s, user_s, system_s, peak_rss_bytes, minor_faults, exit_code, signal,
    output_hash, spin_before_ns, steal, affinity, ...) and ``identity`` what the probe wrote inside
    the child (path and build-id of the library that malloc comes from, for each exec'd process).
    """

    number: int
    experiment: str
    subject: str
    parameters: dict[str, Any]
    round: int
    status: Status
    reason: str = ""
    warm_up: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    identity: list[dict[str, Any]] = field(default_factory=list)
    started_at: str = ""
    kind: Literal["process"] = "process"


@dataclass(frozen=True)
class Sample:
    """One repeat of one process: a number for each quantity. One line of ``samples.jsonl``."""

    process: int
    experiment: str
    subject: str
    parameters: dict[str, Any]
    round: int
    repeat: int
    warm_up: bool
    values: dict[str, float]
    facts: dict[str, Any] = field(default_factory=dict)
    kind: Literal["sample"] = "sample"


@dataclass(frozen=True)
class Run:
    """``run.json``: one invocation, with its machine. ``state`` is what a reader may rely on."""

    schema: int
    id: str
    version: str
    created: str
    command_line: list[str]
    plan: Plan
    machine: Machine
    experiments: list[Experiment]
    state: Literal["running", "complete", "interrupted"]
    preflight: list[Check] = field(default_factory=list)
    missing_peers: list[Peer] = field(default_factory=list)
    machine_after: Machine | None = None
    finished: str = ""


@dataclass(frozen=True)
class Check:
    """The verdict of one trust check (V1 ... V25) on one run."""

    id: str
    title: str
    verdict: Verdict
    detail: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trust:
    """All checks; ``verdict`` is the worst of them in words a person reads."""

    verdict: Literal["good", "limited", "not trustworthy"]
    checks: list[Check]


@dataclass(frozen=True)
class Row:
    """The statistics of one subject in one cell for one quantity.

    ``parameters`` includes ``quantity``. Figures are None where nothing could be measured (then
    ``status`` and ``note`` say why). ``ratio`` is subject over baseline, from paired rounds, with a
    95 % interval; None for the baseline itself. ``verdict`` is derived, never typed in.
    """

    subject: str
    experiment: str
    parameters: dict[str, Any]
    unit: str
    better: Better
    n: int
    min: float | None
    median: float | None
    mean: float | None
    max: float | None
    stddev: float | None
    ci_low: float | None
    ci_high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    baseline: bool = False
    verdict: Literal[
        "baseline", "better", "worse", "no difference", "cannot tell", "not measured",
    ] = "not measured"
    status: str = "ok"
    note: str = ""
    values: list[float] = field(default_factory=list)
    seed_value: float | None = None


@dataclass(frozen=True)
class Goal:
    """What the project aims at in one cell: ``of`` (a ratio) shall be as ``aim`` says.

    ``verdict`` follows from the 95 % interval: met or not met when all of it lies on one side.
    A goal over many rows has each of them in ``parts``; its figures are those of the worst.
    """

    cell: str
    of: str
    aim: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Literal["met", "not met", "cannot tell here", "not measured"]
    note: str = ""
    parts: list[Goal] = field(default_factory=list)


@dataclass(frozen=True)
class Expected:
    """How one ``Expectation`` came out: judged from the 95 % interval, in ``unit`` (x: a ratio).

    One over several cells, or several peers, has each of them in ``parts`` and shows the worst.
    """

    experiment: str
    says: str
    of: str
    aim: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    verdict: Literal["met", "not met", "cannot tell here", "not measured"]
    note: str = ""
    parts: list[Expected] = field(default_factory=list)


@dataclass(frozen=True)
class Finding:
    """One sentence of one cell and quantity, derived from its pairs.

    ``ratio`` is ``above`` over ``below``: two subjects, or one at two values of ``parameter``.
    """

    experiment: str
    parameters: dict[str, Any]
    above: str
    below: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Literal["better", "worse", "no difference", "cannot tell", "not measured"]
    sentence: str
    parameter: str = ""


@dataclass(frozen=True)
class Detectable:
    """The difference that one cell of an experiment would show four times in five, by A/A pairs.

    Relative, of the quantity: 0.02 is 2 %. difference: of a typical cell, worst: of the noisiest,
    ``worst_cell``. None without A/A pairs, and ``note`` says why. Where it is not small, ``note``
    says what differs: processes, or the repeats within one.
    """

    experiment: str
    quantity: str
    difference: float | None
    worst: float | None
    worst_cell: str
    pairs: int
    cells: int
    note: str = ""


@dataclass(frozen=True)
class Result:
    """What ``--json`` prints and the report draws: derived from the store, never stored."""

    run: Run
    rows: list[Row]
    trust: Trust
    advice: str
    noise_floor: float | None = None
    headlines: list[str] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    expectations: list[Expected] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    detectable: list[Detectable] = field(default_factory=list)
