"""What the engine changes: the same comparison here and under a worker, sample by sample."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from scipy import stats

from fleet_figures.paired import Pair, Taken, measure_pairs

MOST_ROUNDS = 5000


TRIMMED_SHARE = 0.2
"""Of the pairs at each end. A shared machine disturbs some pairs by a tenth and more, on either
side at random. They decide the width of a mean's interval, and say nothing of the engine."""


class Interval(msgspec.Struct, frozen=True):
    """A ratio with its 95 % interval."""

    ratio: float
    low: float
    high: float


class Influence(msgspec.Struct, frozen=True):
    """Under a worker over without one.

    mean: of the logarithms of all pairs, with Student's interval. trimmed: the same without the
    fifth of the pairs at each end, with Yuen's interval (Yuen 1974, Biometrika 61, 165-170).
    """

    what: str
    pairs: int
    mean: Interval
    trimmed: Interval


def add_pairs(file: Path, seconds: float) -> None:
    """Measures for this long, and adds what was measured to the file."""
    with tempfile.TemporaryDirectory(prefix="heapwise-fleet-figures-") as folder:
        pairs = measure_pairs(Path(folder), seconds, MOST_ROUNDS)
    with file.open("ab") as kept:
        kept.writelines(msgspec.json.encode(pair) + b"\n" for pair in pairs)


def kept_pairs(file: Path) -> list[Pair]:
    return [msgspec.json.decode(line, type=Pair) for line in file.read_bytes().splitlines()]


def influence_of(pairs: Sequence[Pair]) -> list[Influence]:
    """Time and processor time of each subject, and what a comparison prints, which of the control
    is the A/A test. The row of all subjects takes each pair for itself: pairs of one round are
    samples that were taken one after the other."""
    rows = []
    for name, quantity in (("time", _seconds), ("processor time", _cpu)):
        logs = _by_subject(pairs, quantity)
        first, *others = sorted(logs)
        rows.append(
            _influence(f"{name}, all", [log for rounds in logs.values() for log in rounds.values()])
        )
        rows += [
            _influence(f"{name}, {subject}", list(logs[subject].values()))
            for subject in (first, *others)
        ]
        rows += [
            _influence(
                f"{name}, {other} over {first}",
                [
                    log - logs[first][place]
                    for place, log in logs[other].items()
                    if place in logs[first]
                ],
            )
            for other in others
        ]
    return rows


def _by_subject(
    pairs: Sequence[Pair], quantity: Callable[[Taken], float]
) -> dict[str, dict[tuple[int, int], float]]:
    """Subject -> (campaign, round) -> logarithm of under a worker over without one."""
    found: dict[str, dict[tuple[int, int], float]] = {}
    campaign, before = 0, 0
    for pair in pairs:
        campaign += pair.round < before
        before = pair.round
        found.setdefault(pair.subject, {})[campaign, pair.round] = math.log(
            quantity(pair.worker) / quantity(pair.alone)
        )
    return found


def _seconds(taken: Taken) -> float:
    return taken.seconds


def _cpu(taken: Taken) -> float:
    return taken.cpu_s


def _influence(what: str, logs: Sequence[float]) -> Influence:
    mean = statistics.fmean(logs)
    half = stats.t.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    limits = (TRIMMED_SHARE, TRIMMED_SHARE)
    return Influence(
        what,
        len(logs),
        _interval(mean, mean - half, mean + half),
        _interval(
            stats.trim_mean(logs, TRIMMED_SHARE), *stats.mstats.trimmed_mean_ci(logs, limits)
        ),
    )


def _interval(ratio: float, low: float, high: float) -> Interval:
    """From logarithms."""
    return Interval(math.exp(ratio), math.exp(low), math.exp(high))
