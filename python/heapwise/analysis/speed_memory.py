"""Speed against memory: each subject one point, over all rows of a family or in one of them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from heapwise.analysis.gain import gain, main_rows, mean_gain, peak_row
from heapwise.analysis.rows import Bench
from heapwise.stats.combined import CombinedRatio
from heapwise.stats.paired import PairedRatio
from heapwise.trust.series import Cell, baseline_of

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


def speed_memory(bench: Bench, family: str) -> SpeedMemory | None:
    """Over every row with a speed, and a peak of at least ``LEAST_PEAK_BYTES``; None without.

    Both of the baseline.
    """
    base = _baseline(bench, family)
    rows = [c for c in main_rows(bench, family)
            if base in bench.table[c] and _peak(bench, c, base) >= LEAST_PEAK_BYTES]
    return _map(bench, rows, base) if rows else None


def row_map(bench: Bench, cell: Cell, base: str) -> SpeedMemory:
    """The same for one row."""
    return _map(bench, [cell], base)


def _peak(bench: Bench, cell: Cell, subject: str) -> float:
    peak = peak_row(bench, cell)
    if peak is None or subject not in bench.table[peak]:
        return 0.0
    return float(median(bench.table[peak][subject].values))


def _baseline(bench: Bench, family: str) -> str:
    experiments = [e for e in bench.stored.run.experiments if e.family == family]
    return baseline_of(bench.stored, experiments[0]) if experiments else ""


def _map(bench: Bench, rows: list[Cell], base: str) -> SpeedMemory:
    names = dict.fromkeys(name for cell in rows for name in bench.table[cell])
    peaks = [peak for cell in rows if (peak := peak_row(bench, cell))]
    spots, left_out = [], {}
    for name in names:
        if name == base:
            spots.append(Spot(name, (1, 1, 1), (1, 1, 1), baseline=True))
            continue
        speed, memory = _over(bench, rows, name, base), _over(bench, peaks, name, base)
        if speed is None or memory is None:
            measured = sum(name in bench.table[cell] for cell in rows)
            left_out[name] = f"measured in {measured} of {len(rows)} rows"
        else:
            low, middle, high = memory
            spots.append(Spot(name, speed, (1 / high, 1 / middle, 1 / low),
                              control=name in bench.controls()))
    return SpeedMemory(base, rows, spots, left_out)


def _over(bench: Bench, rows: list[Cell], name: str, base: str) -> Triple | None:
    found: PairedRatio | CombinedRatio | None = None
    if len(rows) > 1:
        found, _ = mean_gain(bench, rows, name, base)
    elif rows and {name, base} <= bench.table[rows[0]].keys():
        found, _ = gain(bench, rows[0], name, base)
    if found is None:
        return None
    return (found.low or found.ratio, found.ratio, found.high or found.ratio)
