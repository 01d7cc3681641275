"""Random series that are the same in every version of Python and numpy."""

from __future__ import annotations

import random


def random_series(seed: int) -> list[float]:
    """2 to 60 values with up to three levels, as a benchmark's history has them."""
    chance = random.Random(f"series {seed}")
    level, values = 100.0, []
    for _ in range(chance.randint(2, 60)):
        if chance.random() < 0.05:
            level *= chance.choice([0.9, 1.05, 1.3])
        values.append(level + chance.uniform(-5, 5) * chance.random())
    return values
