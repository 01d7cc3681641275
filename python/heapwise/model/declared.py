"""What an experiment declares of itself: the output of ``<binary> --describe``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from heapwise.model.cell import Setting
from heapwise.model.facts import Count, Number
from heapwise.model.fate import ATTACKS
from heapwise.model.subject_name import SubjectName

EXPERIMENT_ID = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63})?"
"""``compare``, or a family and a name: files are named like it, so it never leads elsewhere."""

PROCESSOR_TIME = "processor_time"
"""The quantity: that of all threads of the process, also of those that an allocator starts."""

SIDE_BY_SIDE = "side_by_side"
"""Processor time as a ratio to that of the baseline, which ran at the same time."""

PROGRAM = "program"
"""The parameter whose values are the programs of an experiment."""

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Quantity:
    """One number that a repeat yields: ``wall_time`` in ``s``, ``alloc_fresh`` in ``ns/op``."""

    name: str
    unit: str
    better: Better
    meaning: str = ""
    restates: str = ""
    """The quantity of which it is another form, as its inverse: sentences are about that one."""

    relative: bool = False
    """A value is already the ratio to the baseline, which ran at the same time."""


@dataclass(frozen=True)
class Parameter:
    """A setting of an experiment. ``default`` and ``smoke`` list the values that are crossed."""

    name: str
    meaning: str
    default: list[Setting]
    smoke: list[Setting]
    unit: str = ""
    changes_work: bool = False
    """Its values are different work: cells are not compared across them."""

    choices: list[str] = field(default_factory=list)
    """For a text: what it may be. Empty: the experiment does not say."""

    least: Count | None = None
    """For a number: it may not be less. None: the experiment does not say."""


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
    build: str = ""
    """The commands, or the compiler and its flags, that made the program; "" if not known."""

    yardstick: bool = False
    """Shown beside the others and never ranked: it does less than they do."""


@dataclass(frozen=True)
class ProgramSpec:
    """A program that an experiment runs under each allocator: one value of its parameter
    ``program``.

    ``places`` has what {python}, {source}, {programs} and {size} stand for in ``prepare``,
    ``command`` and ``check``. Each process runs in a folder of this program, in which ``prepare``
    has left what it needs; ``input``, ``output_files`` and the words may name files in it.
    """

    name: str
    title: str
    command: list[str]
    executables: list[str] = field(default_factory=list)
    """Programs of the machine that it starts, and that are examined before."""

    prepare: list[str] = field(default_factory=list)
    """Commands of a shell, run once before the first process."""

    environment: dict[str, str] = field(default_factory=dict)
    input: str = ""
    output_files: list[str] = field(default_factory=list)
    check: str = ""
    """A shell's command after each process, which must end with 0."""

    replaces: str = ""
    """A library with a malloc that it is linked with, and that whatever is preloaded replaces."""

    places: dict[str, str] = field(default_factory=dict)
    smoke_size: str = ""
    """What {size} is in a smoke run; "" for a program that takes no part in it."""

    ask_version: list[str] = field(default_factory=list)
    version: str = ""
    """What ``ask_version`` prints first."""

    environment_prefixes: list[str] = field(default_factory=list)
    """Starts of the variables that change what it does: those of the user are left out."""

    status: Literal["", "missing", "refused"] = ""
    """Why it is not run: it is not on this machine, or preloading cannot reach its malloc."""

    reason: str = ""
    idle_s: float = 0.0
    """The length of its last phase, in which it sleeps: not part of its time."""


@dataclass(frozen=True)
class CitedFigure:
    """A figure of a published report, to be printed beside ours, in the unit of the quantity.

    ``machine`` and ``report`` are their titles.
    """

    subject: str
    quantity: str
    parameters: dict[str, Setting]
    value: Number
    machine: str
    report: str


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
    parameters: dict[str, Setting] = field(default_factory=dict)
    over_parameters: dict[str, Setting] = field(default_factory=dict)
    at_least: Number = 0.0
    at_most: Number | None = None


@dataclass(frozen=True)
class Answer:
    """A comparison that answers the question of an experiment.

    ``subject`` against ``over`` in each cell that ``parameters`` name (what is not named is free),
    or, where ``over`` is "", the subject against itself in the cell changed by
    ``over_parameters``. A subject of "": the best of each cell against the next.
    """

    quantity: str
    subject: str = ""
    over: str = ""
    parameters: dict[str, Setting] = field(default_factory=dict)
    over_parameters: dict[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """What ``<binary> --describe`` prints, and what the catalogue adds to it."""

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
    published: list[CitedFigure] = field(default_factory=list)
    """What others measured of it: the catalogue joins them, the experiment knows none."""

    expectations: list[Expectation] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    binary: str = ""
    program_hash: str = ""
    """SHA-256 of its program and of its other builds, shortened. "" for a declaration,
    and in runs of earlier versions."""

    programs: list[ProgramSpec] = field(default_factory=list)
    """Not empty: each cell is one of them, and its subjects are allocators under it."""

    @property
    def unit(self) -> str:
        return self.quantities[0].unit

    @property
    def is_of_programs(self) -> bool:
        """Its subjects are programs, which the launcher starts and times from outside."""
        return any(spec.command for spec in self.subjects)

    @property
    def is_ranked(self) -> bool:
        """False for attacks: how one ends is not a rank."""
        return self.family != ATTACKS

    def spec(self, subject: str) -> SubjectSpec | None:
        """What it declares of a subject; a control is its baseline."""
        specs = {spec.name: spec for spec in self.subjects}
        return specs.get(subject) or specs.get(SubjectName.parse(subject).measured)

    def program(self, settings: Mapping[str, Setting]) -> ProgramSpec | None:
        """That of a cell."""
        name = settings.get(PROGRAM)
        return next((program for program in self.programs if program.name == name), None)

    def can_run(self, settings: Mapping[str, Setting]) -> bool:
        """Not a program that is missing, or that preloading cannot reach."""
        program = self.program(settings)
        return program is None or not program.status

    @property
    def better(self) -> Better:
        return self.quantities[0].better
