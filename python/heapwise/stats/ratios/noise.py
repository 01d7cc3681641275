"""How large a difference must be before this campaign can see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heapwise.stats.basics.student import LEAST, mean_interval
from heapwise.stats.ratios.detectable_table import FACTORS
from heapwise.stats.ratios.paired import PairedRatio, paired_ratio


@dataclass(frozen=True)
class NoiseFloor:
    """From A/A pairs: one thing under two labels. Relative figures, 0.008 means 0.8 %.

    floor: how far from 1 the ratio of a thing to itself may still lie (the farther end of the
    95 % interval). detectable: the true difference
    that as many rounds would find 4 times in 5. biased: 1 is outside the interval. p_value:
    two-sided, of "both labels are the same", by Student's t test, which unlike a rank test can be
    certain from few rounds.
    """

    floor: float
    detectable: float
    biased: bool
    pairs: int
    ratio: PairedRatio
    p_value: float

    def least(self, ratio: PairedRatio | None) -> float:
        """The difference that a claim has to exceed. A ratio with the scale of all subjects needs
        no floor, unless the baseline differs from itself."""
        return self.floor if self.biased or ratio is None or ratio.scale is None else 0.0


def noise_floor(
    first: Sequence[float],
    second: Sequence[float],
    factor: float = 1.0,
    step: float = 0.0,
    subjects: int = 1,
) -> NoiseFloor | None:
    """first, second: shape (n,), one unit; the baseline under its two labels, round by round.

    factor: as ``Dependence`` has it. step: a logarithm, to which the numbers are known. subjects:
    how many are beside the baseline. None below 3 pairs, where there is no interval.
    """
    if len(first) < LEAST:
        return None
    found = paired_ratio(first, second).widened(factor).blurred(step)
    logs = np.log(np.asarray(first, dtype=np.float64) / np.asarray(second, dtype=np.float64))
    tested = mean_interval(logs.tolist(), factor=factor)
    if found.low is None or found.high is None or tested is None:
        return None
    floor = max(found.high, 1 / found.low) - 1
    biased = not found.low <= 1 <= found.high
    return NoiseFloor(
        floor,
        detectable((factor * logs).tolist(), subjects),
        biased,
        len(first),
        found,
        tested.p_value,
    )


def detectable(logs: Sequence[float], subjects: int = 1) -> float:
    """The true difference that a campaign of as many rounds would claim 4 times in 5; 0.01: 1 %.

    logs: shape (n,), n >= 3, the A/A log ratios. A claim takes the verdict of a row beside a
    control (``NoiseFloor.least``). The factors are simulated (tools/simulate_detectable.py).
    """
    return detectable_in(logs, len(logs), subjects)


def detectable_in(logs: Sequence[float], rounds: int, subjects: int = 1) -> float:
    """As ``detectable``, of a campaign of another number of rounds with the same noise."""
    spread = float(np.std(np.asarray(logs, dtype=np.float64), ddof=1))
    return float(np.expm1(_factor(rounds, subjects) * spread))


def _factor(rounds: int, subjects: int) -> float:
    """Interpolated between the simulated numbers of subjects and rounds; beyond the last number of
    rounds by the root of n."""
    by_subjects = [_factor_of(table, rounds) for table in FACTORS.values()]
    return float(np.exp(np.interp(np.log(max(1, subjects)), np.log([*FACTORS]), by_subjects)))


def _factor_of(table: Mapping[int, float], rounds: int) -> float:
    """The logarithm of the factor."""
    known = list(table)
    if rounds > known[-1]:
        return float(np.log(table[known[-1]] * np.sqrt(known[-1] / rounds)))
    return float(np.interp(np.log(rounds), np.log(known), np.log([*table.values()])))
