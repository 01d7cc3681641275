"""What an analysis derives from a stored run. Nothing here is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from heapwise.model.cell import Cell, Settings
from heapwise.model.declared import Better
from heapwise.model.gate import GateResult
from heapwise.model.stored import Check, Run


@dataclass(frozen=True)
class Trust:
    """All checks; ``verdict`` is the worst of them in words a person reads."""

    verdict: Literal["good", "limited", "not trustworthy"]
    checks: list[Check]
    verified: bool = False
    """A self-test of this machine and build found everything that it planted (V25)."""

    @property
    def objections(self) -> list[Check]:
        """The checks that speak against the run, those that failed first."""
        return [c for verdict in ("fail", "warn") for c in self.checks if c.verdict == verdict]

    @property
    def words(self) -> str:
        return self.verdict if self.verified else f"{self.verdict}, unverified"


@dataclass(frozen=True)
class Row:
    """The statistics of one subject in one cell.

    In JSON ``experiment`` and ``parameters`` stand for ``cell``: the settings, and ``quantity``
    among them. Figures are None where nothing could be measured (then
    ``status`` and ``note`` say why). ``ratio`` is subject over baseline, from paired rounds, with a
    95 % interval; None for the baseline itself. ``verdict`` is derived, never typed in.
    """

    subject: str
    cell: Cell
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
        "baseline",
        "better",
        "worse",
        "no difference",
        "cannot tell",
        "not measured",
    ] = "not measured"
    status: str = "ok"
    note: str = ""
    values: list[float] = field(default_factory=list)
    published_value: float | None = None

    @property
    def experiment(self) -> str:
        return self.cell.experiment

    @property
    def parameters(self) -> Settings:
        return self.cell.parameters

    @property
    def quantity(self) -> str:
        return self.cell.quantity


@dataclass(frozen=True)
class Expected:
    """How one ``Expectation`` came out, in ``unit`` (x: a ratio). A ratio is judged from the strict
    interval, a value from its 95 % interval.

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
    """One sentence of one cell, derived from its pairs; in JSON the cell is written as in ``Row``.

    ``ratio`` is ``above`` over ``below``: two subjects, or one at two values of ``parameter``.
    ``certain``: better or worse, and it survives among all findings of the run.
    """

    cell: Cell
    above: str
    below: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Literal["better", "worse", "no difference", "cannot tell", "not measured"]
    sentence: str
    parameter: str = ""
    p_value: float = 1.0
    certain: bool = False
    answer: bool = False
    """The experiment declares this comparison as what answers its question."""

    @property
    def experiment(self) -> str:
        return self.cell.experiment


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
    expectations: list[Expected] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    detectable: list[Detectable] = field(default_factory=list)
    gate: GateResult | None = None
    """None: the run is not a gate."""
