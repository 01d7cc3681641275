"""What the statistics compute with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def median_of_sorted(ordered: Floats) -> float:
    """As ``numpy.median``, which takes much longer for few numbers, and does not know their
    order."""
    half, odd = divmod(len(ordered), 2)
    return float(ordered[half] if odd else (ordered[half - 1] + ordered[half]) / 2)
