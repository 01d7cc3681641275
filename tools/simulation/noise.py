"""How the numbers of one process scatter: standard shapes, one value for each round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Shape = Literal["normal", "skewed", "bimodal", "heavy"]

MODES = 5.0
"""Distance of the two modes, in standard deviations of one of them."""


def _normal(random: np.random.Generator, size: tuple[int, ...]) -> Array:
    return random.normal(size=size)


def _skewed(random: np.random.Generator, size: tuple[int, ...]) -> Array:
    """Exponential: most processes are quick, and a few are much slower."""
    return random.standard_exponential(size) - 1


def _bimodal(random: np.random.Generator, size: tuple[int, ...]) -> Array:
    """A process is quick or slow, each half of the time."""
    modes = random.choice([-MODES / 2, MODES / 2], size) + random.normal(size=size)
    return np.asarray(modes / np.sqrt(1 + MODES**2 / 4), dtype=np.float64)


def _heavy(random: np.random.Generator, size: tuple[int, ...]) -> Array:
    """Student's t with 3 degrees of freedom, the fewest with a finite variance."""
    return np.asarray(random.standard_t(3, size) / np.sqrt(3), dtype=np.float64)


SHAPES: dict[Shape, Callable[[np.random.Generator, tuple[int, ...]], Array]] = {
    "normal": _normal,
    "skewed": _skewed,
    "bimodal": _bimodal,
    "heavy": _heavy,
}
"""Each of mean 0 and standard deviation 1."""


def noise(
    random: np.random.Generator, shape: Shape, size: tuple[int, int], correlation: float = 0.0
) -> Array:
    """size: (series, rounds). correlation: of a round with the one before it in its series.

    The series are stationary and autoregressive: the first round is drawn like all others.
    """
    values = SHAPES[shape](random, size)
    for number in range(1, size[1] if correlation else 0):
        values[:, number] = (
            correlation * values[:, number - 1] + np.sqrt(1 - correlation**2) * values[:, number]
        )
    return values
