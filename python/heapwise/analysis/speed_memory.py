"""Speed against memory: each subject one point, over all rows of a family or in one of them."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.analysis.verdicts.gain import gain, main_rows, mean_gain, peak_row
from heapwise.evidence import Evidence
from heapwise.evidence.series import baseline_of
from heapwise.model import Cell
from heapwise.stats.ratios.paired import PairedRatio

Triple = tuple[float, float, float]
"""Low, estimate, high; all the same where there is no interval."""


LEAST_PEAK_BYTES = 2**20
"""Below, a peak is the allocator's first pages, and a ratio of them says nothing of a program."""


@dataclass(frozen=True)
class Spot:
    """speed: times as fast as the baseline. memory: peak over that of the baseline."""

    subject: str
    speed: Triple
    memory: Triple
    baseline: bool = False
    control: bool = False


@dataclass(frozen=True)
class SpeedMemory:
    """rows: the cells that the spots are means of. left_out: subject -> why it has no spot."""

    baseline: str
    rows: list[Cell]
    spots: list[Spot]
    left_out: dict[str, str]


def speed_memory(evidence: Evidence, family: str) -> SpeedMemory | None:
    """Over every row with a speed, and a peak of at least ``LEAST_PEAK_BYTES``; None without.

    Both of the baseline.
    """
    base = _baseline(evidence, family)
    rows = [
        c
        for c in main_rows(evidence, family)
        if base in evidence.table[c] and _peak(evidence, c, base) >= LEAST_PEAK_BYTES
    ]
    return _map(evidence, rows, base) if rows else None


def row_map(evidence: Evidence, cell: Cell, base: str) -> SpeedMemory:
    """The same for one row."""
    return _map(evidence, [cell], base)


def _peak(evidence: Evidence, cell: Cell, subject: str) -> float:
    peak = peak_row(evidence, cell)
    if peak is None or subject not in evidence.table[peak]:
        return 0.0
    return evidence.table[peak][subject].middle


def _baseline(evidence: Evidence, family: str) -> str:
    experiments = [e for e in evidence.stored.run.experiments if e.family == family]
    return baseline_of(evidence.stored, experiments[0]) if experiments else ""


def _map(evidence: Evidence, rows: list[Cell], base: str) -> SpeedMemory:
    names = dict.fromkeys(name for cell in rows for name in evidence.table[cell])
    peaks = [peak for cell in rows if (peak := peak_row(evidence, cell))]
    spots, left_out = [], {}
    for name in names:
        if name == base:
            spots.append(Spot(name, (1, 1, 1), (1, 1, 1), baseline=True))
            continue
        speed, memory = _over(evidence, rows, name, base), _over(evidence, peaks, name, base)
        if speed is None or memory is None:
            measured = sum(name in evidence.table[cell] for cell in rows)
            left_out[name] = f"measured in {measured} of {len(rows)} rows"
        else:
            low, middle, high = memory
            spots.append(
                Spot(
                    name,
                    speed,
                    (1 / high, 1 / middle, 1 / low),
                    control=name in evidence.control_names,
                )
            )
    return SpeedMemory(base, rows, spots, left_out)


def _over(evidence: Evidence, rows: list[Cell], name: str, base: str) -> Triple | None:
    found: PairedRatio | None = None
    if len(rows) > 1:
        found, _ = mean_gain(evidence, rows, name, base)
    elif rows and {name, base} <= evidence.table[rows[0]].keys():
        found, _ = gain(evidence, rows[0], name, base)
    if found is None:
        return None
    return (found.low or found.ratio, found.ratio, found.high or found.ratio)
