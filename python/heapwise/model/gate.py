"""A gate: limits that the user sets for a new build against its base, and what came of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from heapwise.model.facts import Number

GateVerdict = Literal["regressed", "fine", "cannot tell"]


class BuildPlace(msgspec.Struct, frozen=True):
    """Where the files of a build lie, and the path at which they are run.

    program: as the command has it. root: a folder or a file, which has the path ``stands`` while a
    process of the build runs. at: the program's path then.
    """

    program: str
    root: str
    stands: str
    at: str

    layouts: list[str] = []
    """The same program linked again under other layouts (``--relink``): each has the path ``at``
    while one of its processes runs. Empty: the program is run as it was built."""

    control_layouts: list[str] = []
    """Those of the second label of the base, so that the A/A test compares other layouts."""

    beside: str = ""
    """The program's path while the other build runs, too, which cannot have the same path then; ""
    if the program runs at ``at`` alone."""


class Relinked(msgspec.Struct, frozen=True):
    """How both programs of a gate were linked again. layouts: random ones of each side: the base,
    its second label, and the new build. linker: its name. method: what was random. objects: object
    files of the new program's link. functions: of the new program, 0 if it is stripped. moved: how
    many of them have another place in their page of 4 KiB, in the layout with the fewest."""

    layouts: int
    linker: str
    method: str
    objects: int
    functions: int
    moved: int


class GateOptions(msgspec.Struct, frozen=True):
    """What was asked for. limits: metric -> how much more is allowed, 0.03 is 3 %."""

    limits: dict[str, Number]
    strict: bool = False
    """Exit with 4 if a metric cannot be told."""

    by_processor: bool = False
    """The processor counts instructions in each timed process; else cachegrind does, in others."""

    places: dict[str, BuildPlace] = {}
    """Build -> its place. One that is missing is run where it lies."""

    uncountable: str = ""
    """Why calls of malloc can never be counted in one of the builds; "" if they can."""

    uneven: str = ""
    """Why the builds are not run at one path, or at paths of equal length; "" if they are."""

    relinked: Relinked | None = None
    """None: both programs have the one layout that their build gave them."""


@dataclass(frozen=True)
class RareShare:
    """Runs far beyond the typical one: ``new_count`` of ``new_runs`` of the new build, which need
    ``size`` times as much, and ``base_count`` of ``base_runs`` of the base. low, high: 95 %
    interval of the new build's share. p_value: of Fisher's one-sided test that it has more."""

    new_count: int
    new_runs: int
    base_count: int
    base_runs: int
    size: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class GateRow:
    """One metric of the new build against the base.

    exact: it was counted, and all runs of each build agree.
    change: new over base, minus 1; 0.03 is 3 % more. low, high: its 95 % interval. Of what was
    counted both are None, and so is ``noise``, the A/A noise floor. rounds: that the interval is
    of. confirmed: they are fresh rounds, taken after others had shown the change.
    """

    metric: str
    unit: str
    limit: float
    exact: bool
    verdict: GateVerdict
    sentence: str
    base: float | None = None
    new: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    noise: float | None = None
    rounds: int = 0
    confirmed: bool = False
    too_noisy: bool = False
    """The base differs from itself by more than the limit: this machine cannot tell."""

    impossible: bool = False
    """It can never be counted in this program, so the limit says nothing."""

    layout: float | None = None
    """The deviation between layouts of one build, relative; None if it is not known."""

    rare: RareShare | None = None
    """None if no run of either build is far beyond the typical one, or if they were not judged."""

    quantity: str = ""
    """That was judged, if it is not the metric's own; ``base`` and ``new`` are of it."""

    subject: str = ""
    """The row of two stored runs; "" if there is one build on each side."""

    absolute: bool = False
    """The limit is what the new build may need at most: ``limit``, ``low`` and ``high`` are in
    ``unit``, and there is no base."""

    @property
    def title(self) -> str:
        """``time``, ``time of jemalloc``."""
        return f"{self.metric} of {self.subject}" if self.subject else self.metric


@dataclass(frozen=True)
class GrownSite:
    """A call site that allocates more in the new build than in the base, in one recording of each.

    name: its function, with the line if that is known. blocks, bytes: how many more. estimated: in
    one recording, wrappers with several callers share out the figures. file, line: where it stands,
    from the top of the repository; "" and 0 if that is not known.
    """

    name: str
    blocks: int
    bytes: int
    estimated: bool = False
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class GrownSites:
    """sites: those with the most additional blocks first. unknown: why there are none; "" if both
    builds were recorded."""

    sites: list[GrownSite] = field(default_factory=list)
    unknown: str = ""


@dataclass(frozen=True)
class GateResult:
    """verdict: regressed if a row is, else cannot tell if a row is, else fine.

    run: its id, "" if nothing was measured, since the builds are identical. note: why.
    """

    base: str
    new: str
    verdict: GateVerdict
    exit_code: int
    rows: list[GateRow] = field(default_factory=list)
    run: str = ""
    identical: bool = False
    note: str = ""
    program: str = ""
    """The name of the new build's file."""

    location: str = ""
    """Its path as typed, from the top of the repository; "" if it is not in one."""

    layouts: int = 0
    """Random layouts of each build; 0 if it was not linked again."""

    grown: GrownSites | None = None
    """None if no exact count of malloc regressed, or if nothing was recorded."""
