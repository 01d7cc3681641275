"""One mean of effects that differ from machine to machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEAST = 3
"""Two machines leave one degree of freedom: an interval that is 12.7 standard errors wide."""


@dataclass(frozen=True)
class RandomEffects:
    """mean, low, high: in the unit of the effects, 95 %. between: the standard deviation of the
    true effects of machines (tau)."""

    mean: float
    low: float
    high: float
    between: float


def random_effects(effects: Sequence[float], errors: Sequence[float]) -> RandomEffects | None:
    """effects, errors: shape (n,), an effect and its standard error of each machine; None below 3.

    tau by DerSimonian and Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials 7
    (1986) 177-188. The interval is that of Hartung and Knapp, "On tests of the overall treatment
    effect in meta-analysis with normally distributed responses", Statistics in Medicine 20 (2001)
    1771-1782, with Student's t at n - 1 degrees; it is not made narrower than the normal one of
    equal weights (Rover, Knapp, Friede, BMC Medical Research Methodology 15:99, 2015: the factor is
    at least 1).
    """
    from heapwise.stats.basics.special import stdtrit

    values = np.asarray(effects, dtype=np.float64)
    variances = np.maximum(np.asarray(errors, dtype=np.float64) ** 2, 1e-18)
    n = len(values)
    if n < LEAST:
        return None
    weights = 1 / variances
    fixed = float(np.average(values, weights=weights))
    q = float(np.sum(weights * (values - fixed) ** 2))
    scale = float(weights.sum() - (weights**2).sum() / weights.sum())
    tau2 = max(0.0, (q - (n - 1)) / scale)
    weights = 1 / (variances + tau2)
    mean = float(np.average(values, weights=weights))
    spread = float(np.sum(weights * (values - mean) ** 2) / (n - 1))
    error = float(np.sqrt(max(1.0, spread) / weights.sum()))
    half = float(stdtrit(n - 1, 0.975)) * error
    return RandomEffects(mean, mean - half, mean + half, float(np.sqrt(tau2)))
