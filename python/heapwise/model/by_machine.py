"""What the machines of a fleet say of one subject. Nothing here is stored."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MachineRow:
    """One machine. ratio: subject over baseline, with its 95 % interval. kind: equal for machines
    of one processor, number of cores, kernel and C library."""

    machine: str
    host: str
    kind: str
    cpu: str
    cores: int
    kernel: str
    libc: str
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    trust: str


@dataclass(frozen=True)
class KindMean:
    """The random-effects mean over machines of one kind, as a ratio with its 95 % interval."""

    kind: str
    machines: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class ByMachine:
    """One subject and quantity on every machine. better, worse: machines whose strict interval
    says so; the others cannot tell. split: properties that part the machines where it is better
    from those where it is worse."""

    subject: str
    quantity: str
    cell: str
    rows: list[MachineRow]
    better: int
    worse: int
    means: list[KindMean] = field(default_factory=list)
    split: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """On how many machines the sign agrees."""
        n = len(self.rows)
        machines = f"{n} machine{'s' if n != 1 else ''}"
        most, word = max((self.better, "better"), (self.worse, "worse"))
        where = f" ({self.cell})" if self.cell else ""
        if not most:
            return f"{self.subject}{where}: no difference is certain on any of {machines}"
        against = self.better + self.worse - most
        opposite = f", the opposite on {against}" if against else ""
        return f"{self.subject}{where}: {word} on {most} of {machines}{opposite}"
