#!/usr/bin/env python3
"""Writes python/heapwise/stats/detectable_table.py: which difference is found 4 times in 5.

A difference is claimed if its strict interval excludes 1 and it is larger than the noise floor.
Both come from the same rounds, so no formula gives the power. For each number of rounds this
simulates campaigns of normal, independent noise (a baseline, its control and three subjects in each
round), widens intervals where the rounds seem to depend on each other, as an analysis does, and
finds the factor ``f`` for which a true difference of ``f`` times the standard deviation of the A/A
log ratios, as one campaign estimates it, is claimed by 80 % of other campaigns. It takes a minute.
``tests/lab/stats/test_noise.py`` checks entries of the table through the analysis itself.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from heapwise.stats.dependence import dependences
from heapwise.stats.paired import CONFIDENCE, STRICT_CONFIDENCE
from heapwise.stats.signed_rank import interval_rank

POWER, CAMPAIGNS, CHUNK, SUBJECTS = 0.8, 20_000, 200, 3
ROUNDS = [*range(3, 33), 36, 40, 45, 50, 60, 80, 100]
TABLE = Path(__file__).resolve().parents[1] / "python/heapwise/stats/detectable_table.py"

Array = NDArray[np.float64]


def intervals(logs: Array) -> tuple[Array, Array, Array]:
    """low, centre, high of each row of ``logs``, shape (campaigns, rounds), as paired_ratio has."""
    rounds = logs.shape[1]
    rank = interval_rank(rounds, CONFIDENCE)
    if rank is None:
        centre = logs.mean(axis=1)
        half = stdtrit(rounds - 1, (1 + CONFIDENCE) / 2) * logs.std(axis=1, ddof=1) / rounds**0.5
        return centre - half, centre, centre + half
    first, second = np.triu_indices(rounds)
    averages = np.sort((logs[:, first] + logs[:, second]) / 2, axis=1)
    return averages[:, rank - 1], np.median(averages, axis=1), averages[:, -rank]


def campaigns(rounds: int, random: np.random.Generator) -> tuple[Array, Array]:
    """The least difference that each would claim, and its spread of the A/A log ratios."""
    needed, spreads = [], []
    wider = np.divide(
        *(
            stdtrit(rounds - 1, (1 + confidence) / 2)
            for confidence in (STRICT_CONFIDENCE, CONFIDENCE)
        )
    )
    for _ in range(CAMPAIGNS // CHUNK):
        base, control, *subjects = random.normal(size=(2 + SUBJECTS, CHUNK, rounds))
        same, ratios = control - base, [subject - (base + control) / 2 for subject in subjects]
        _, _, factor, strict_factor = dependences(np.stack([same, *ratios], axis=1))
        low, centre, _ = intervals(ratios[0])
        floor_low, middle, floor_high = intervals(same)
        floor = np.maximum(
            middle + (floor_high - middle) * factor, (middle - floor_low) * factor - middle
        )
        needed.append(np.maximum((centre - low) * strict_factor * wider, floor) - centre)
        spreads.append(factor * same.std(axis=1, ddof=1))
    return np.concatenate(needed), np.concatenate(spreads)


def factor(rounds: int) -> float:
    """By bisection on the share of campaigns that would claim the difference."""
    needed, spreads = campaigns(rounds, np.random.default_rng(rounds))
    ordered = np.sort(needed)
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        found = np.searchsorted(ordered, middle * spreads).mean() / len(ordered)
        low, high = (middle, high) if found < POWER else (low, middle)
    return high


def main() -> None:
    rows = "".join(f"    {rounds}: {factor(rounds):.3f},\n" for rounds in ROUNDS)
    TABLE.write_text(
        '"""Written by tools/simulate_detectable.py, which says what it holds; do not edit."""\n\n'
        "from __future__ import annotations\n\n"
        "FACTORS: dict[int, float] = {\n" + rows + "}\n"
        '"""Rounds -> detectable difference over the standard deviation of the A/A log ratios."""'
        "\n"
    )


if __name__ == "__main__":
    main()
