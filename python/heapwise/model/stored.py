"""What a run stores: ``run.json`` and the lines of ``samples.jsonl`` are these classes as JSON.

See ``schema/``. A change here, or in ``declared``, is a change of the schema version. Units are in
the names or in ``Quantity.unit``; times on disk are seconds or nanoseconds as named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from heapwise.model.build import Build
from heapwise.model.calibration import Calibration
from heapwise.model.cell import Setting, Settings, Setup
from heapwise.model.declared import Experiment
from heapwise.model.facts import Count, Identity, Number, ProcessFacts, SampleFacts
from heapwise.model.gate import BuildPlace, GrownSites
from heapwise.model.machine import MachineFacts
from heapwise.model.options import PlanOptions
from heapwise.model.revision import Revision
from heapwise.model.self_test import SelfTest
from heapwise.model.subject_name import SubjectName
from heapwise.model.traits import COMPARISON, EXPERIMENTS, GATE, SERVERS, Traits

SCHEMA_VERSION = 1

RUN_ID = r"[A-Za-z0-9_-]{1,64}"

Protection = Literal["plain", "guarded", "hardened"]

Verdict = Literal["pass", "warn", "fail", "unavailable"]

Status = Literal[
    "ok",
    "crashed",
    "failed",
    "timed_out",
    "output_differs",
    "wrong_allocator",
    "refused",
    "discarded",
    "interrupted",
]


GIVEN_BY_PATH = "given by path"
"""The note on an allocator that an option named."""


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
    """By its file's name."""

    unoptimised: bool = False
    """By its code, as the number of calls of a failed assertion in it: ``asserts``."""

    asserts: int = 0
    known_faults: list[str] = field(default_factory=list)
    """Promises of malloc that this version is known to break: said, and no surprise."""

    environment: dict[str, str] = field(default_factory=dict)
    """What its makers tell every user of it to set; its processes get it, and no others."""

    on_request: bool = False
    """Compared only where it is named: it does other work, such as checking every free."""

    protection: Protection = "plain"
    """How far its makers built it to resist memory errors: what it stops, a run measures."""

    @property
    def is_given_by_path(self) -> bool:
        """Whether an option named it, and not a file of the peers."""
        return self.notes == GIVEN_BY_PATH


@dataclass(frozen=True)
class Machine:
    """What this computer is. ``unavailable`` maps a facility to the reason that it is missing."""

    host: str
    user: str
    cpu: str
    cores: Count
    memory_bytes: Count
    caches: dict[str, Count]
    kernel: str
    distribution: str
    libc: str
    page_bytes: Count
    facts: MachineFacts = field(default_factory=MachineFacts)
    unavailable: dict[str, str] = field(default_factory=dict)
    name: str = ""
    """That the user gave it (``--machine``, ``HEAPWISE_MACHINE``); "" without one."""


@dataclass(frozen=True)
class Subject:
    """What one row measures, resolved: a peer under ``compare``, or an experiment's subject."""

    name: str
    title: str
    peer: Peer | None = None
    baseline: bool = False
    control: bool = False
    """True for the second label of the baseline (the A/A pair), which is never ranked."""

    build: str = ""
    """The name of a build of the plan: the program that its processes run."""

    @property
    def parts(self) -> SubjectName:
        """The parts of its name. Only the name of a control may end in -control."""
        return SubjectName.parse(self.name, may_be_control=self.control)


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
    options: PlanOptions = field(default_factory=PlanOptions)
    builds: list[Build] = field(default_factory=list)
    """The builds of a comparison, the baseline's first; ``command`` is the command of that one.
    Empty in runs of versions that knew one program only."""

    @property
    def takes_values_of_user(self) -> bool:
        """Whether the user typed the values of its parameters; those of experiments are ours."""
        return self.traits.whole_programs

    @property
    def traits(self) -> Traits:
        """The only place that asks for the kind, beside the studies themselves."""
        if self.kind != "compare":
            return EXPERIMENTS if self.options.server is None else SERVERS
        return COMPARISON if self.options.gate is None else GATE

    @property
    def limits(self) -> Mapping[str, float]:
        """Metric -> how much more of it a new build may have; empty if nothing is limited."""
        return self.options.gate.limits if self.options.gate else {}

    @property
    def places(self) -> Mapping[str, BuildPlace]:
        """Build -> the tree that it was built in, where it was built for this run."""
        return self.options.gate.places if self.options.gate else self.options.places

    @property
    def layouts(self) -> int:
        """In how many random layouts each build is measured, one after the other; 0 if each has its
        own alone."""
        gate = self.options.gate
        if gate is None:
            return max((len(place.layouts) for place in self.options.places.values()), default=0)
        return gate.relinked.layouts if gate.relinked else 0

    @property
    def uneven(self) -> str:
        """Why the builds do not lie at one path, or at paths of equal length; "" if they do, or if
        that decides nothing."""
        return self.options.gate.uneven if self.options.gate else ""

    @property
    def report(self) -> str:
        """The published report whose experiments are run; "" without one."""
        return self.options.reproduction.report if self.options.reproduction else ""

    def is_whole(self, experiment: Experiment) -> bool:
        """Whether each process of an experiment is a program that knows nothing of us: the user's,
        or programs of the machine."""
        return self.traits.whole_programs or bool(experiment.programs)

    @property
    def measured_builds(self) -> list[Build]:
        """The builds whose programs are measured; none if the processes measure themselves."""
        if not self.traits.whole_programs:
            return []
        return self.builds or [self.build_named("")]

    def build_of(self, subject: str) -> Build:
        """The program that the processes of a subject run."""
        name = next((s.build for s in self.subjects if s.name == subject), "")
        return self.build_named(name)

    def build_named(self, name: str) -> Build:
        """In a run of an earlier version each name is that of its one program."""
        return next(
            (build for build in self.builds if build.name == name),
            Build(name, self.command, self.options.as_typed),
        )

    @property
    def examples(self) -> dict[str, str]:
        """Build -> the subject whose first process shows what all of that build have to do: the
        first one in the plan. Empty if the processes are not programs of the user."""
        if not self.traits.whole_programs:
            return {}
        found: dict[str, str] = {}
        for subject in self.subjects:
            found.setdefault(subject.build, subject.name)
        return found


@dataclass(frozen=True)
class Process:
    """One child process, as the launcher and the probe saw it. One line of ``samples.jsonl``.

    ``parameters`` are the settings of the cell. ``identity`` has a line for each process that was
    exec'd.
    """

    number: int
    experiment: str
    subject: str
    parameters: dict[str, Setting]
    round: int
    status: Status
    reason: str = ""
    warm_up: bool = False
    facts: ProcessFacts = field(default_factory=ProcessFacts)
    identity: list[Identity] = field(default_factory=list)
    started_at: str = ""
    kind: Literal["process"] = "process"

    @cached_property
    def setup(self) -> Setup:
        return self.experiment, Settings.of(self.parameters)


@dataclass(frozen=True)
class Sample:
    """One repeat of one process: a number for each quantity. One line of ``samples.jsonl``."""

    process: int
    experiment: str
    subject: str
    parameters: dict[str, Setting]
    round: int
    repeat: int
    warm_up: bool
    values: dict[str, Number]
    facts: SampleFacts = field(default_factory=SampleFacts)
    kind: Literal["sample"] = "sample"

    @property
    def setup(self) -> Setup:
        return self.experiment, Settings.of(self.parameters)


@dataclass(frozen=True)
class Check:
    """The verdict of one trust check (V1 ... V31) on one run."""

    id: str
    title: str
    verdict: Verdict
    detail: str
    figures: dict[str, Any] = field(default_factory=dict)


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
    self_test: SelfTest | None = None
    """The newest one of this machine and build when the run began; without one it is unverified."""

    revision: Revision | None = None
    """The revision of the repository that the program, or else the working folder, lies in. None:
    there is no such repository, or the run is of a version that did not look."""

    calibration: dict[str, Calibration] = field(default_factory=dict)
    """Quantity -> what earlier runs of the machine said when the run began. Empty if there were too
    few, or if the user left it out."""

    grown: GrownSites | None = None
    """The call sites that allocate more in the new build of a gate; None if nobody asked for
    them."""
