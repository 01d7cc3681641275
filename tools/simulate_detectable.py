#!/usr/bin/env python3
"""Writes python/heapwise/stats/ratios/detectable_table.py: which difference is found 4 times in 5.

A difference is claimed if its strict interval excludes 1. That interval has the scale of all
subjects of a cell, the widening for rounds that seem to depend on each other, and a confidence by
the number of rounds. If the baseline differs from itself, the difference has to exceed the noise
floor, too. No formula gives the power of all that. For each number of subjects and rounds this
simulates campaigns of normal, independent noise (a baseline, its control and the subjects in each
round), judges them as an analysis does, and finds the factor ``f`` for which a true difference of
``f`` times the standard deviation of the A/A log ratios, as one campaign estimates it, is claimed
by 80 % of other campaigns. ``tests/lab/stats/test_noise.py`` checks entries of the table through
the analysis itself.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from heapwise.stats.basics.signed_rank import interval_rank
from heapwise.stats.ratios.paired import CONFIDENCE
from heapwise.stats.ratios.pooled_scale import pooled_scales
from heapwise.stats.series.dependence import dependences

POWER, CAMPAIGNS, CHUNK = 0.8, 4_000, 200
ROUNDS = [*range(3, 17), 18, 20, 24, 28, 32, 40, 50, 70, 100]
SUBJECTS = [1, 3, 6]
TABLE = Path(__file__).resolve().parents[1] / "python/heapwise/stats/ratios/detectable_table.py"

Array = NDArray[np.float64]


def intervals(logs: Array) -> tuple[Array, Array, Array]:
    """low, centre, high of each row of ``logs``, shape (campaigns, rounds), as paired_ratio has."""
    rounds = logs.shape[-1]
    rank = interval_rank(rounds, CONFIDENCE)
    if rank is None:
        centre = logs.mean(axis=-1)
        half = stdtrit(rounds - 1, (1 + CONFIDENCE) / 2) * logs.std(axis=-1, ddof=1) / rounds**0.5
        return centre - half, centre, centre + half
    first, second = np.triu_indices(rounds)
    averages = np.sort((logs[..., first] + logs[..., second]) / 2, axis=-1)
    return averages[..., rank - 1], np.median(averages, axis=-1), averages[..., -rank]


def campaigns(rounds: int, subjects: int, random: np.random.Generator) -> tuple[Array, Array]:
    """The least difference that each would claim, and its spread of the A/A log ratios."""
    needed, spreads = [], []
    usual = float(stdtrit(rounds - 1, (1 + CONFIDENCE) / 2))
    for _ in range(CAMPAIGNS // CHUNK):
        base, control, *others = random.normal(size=(2 + subjects, CHUNK, rounds))
        ratios = [subject - (base + control) / 2 for subject in others]
        series = np.stack([control - base, *ratios], axis=1)
        _, _, factor, strict_factor = dependences(series)
        low, centre, high = intervals(series)
        errors = (high - low) / 2 / usual
        errors[:, 0] *= 0.75**0.5
        reach = np.array([pooled_scales(each, [rounds] * len(each))[1].reach for each in errors])
        own = (high - low)[:, 1] / 2
        wider = np.maximum(reach / own * strict_factor, factor)
        floor_low = centre[:, 0] - (centre - low)[:, 0] * factor
        floor_high = centre[:, 0] + (high - centre)[:, 0] * factor
        is_biased = (floor_low > 0) | (floor_high < 0)
        floor = np.where(is_biased, np.maximum(floor_high, -floor_low), -np.inf)
        needed.append(np.maximum((centre - low)[:, 1] * wider, floor) - centre[:, 1])
        spreads.append(factor * series[:, 0].std(axis=1, ddof=1))
    return np.concatenate(needed), np.concatenate(spreads)


def factor(rounds: int, subjects: int) -> float:
    """By bisection on the share of campaigns that would claim the difference."""
    needed, spreads = campaigns(rounds, subjects, np.random.default_rng(rounds))
    ordered = np.sort(needed)
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        found = np.searchsorted(ordered, middle * spreads).mean() / len(ordered)
        low, high = (middle, high) if found < POWER else (low, middle)
    return high


def main() -> None:
    parts = [
        f"    {subjects}: {{\n"
        + "".join(f"        {rounds}: {factor(rounds, subjects):.3f},\n" for rounds in ROUNDS)
        + "    },\n"
        for subjects in SUBJECTS
    ]
    TABLE.write_text(
        '"""Written by tools/simulate_detectable.py, which says what it holds; do not edit."""\n\n'
        "from __future__ import annotations\n\n"
        "FACTORS: dict[int, dict[int, float]] = {\n" + "".join(parts) + "}\n"
        '"""Subjects beside the baseline -> rounds -> detectable difference over the standard\n'
        'deviation of the A/A log ratios."""\n'
    )


if __name__ == "__main__":
    main()
