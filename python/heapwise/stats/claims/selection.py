"""The best of several looks better than it is, because it was chosen for looking best."""

from __future__ import annotations

import numpy as np

from heapwise.stats.basics.arrays import Floats
from heapwise.stats.basics.student import LEAST
from heapwise.stats.ratios.paired import centre

SPLITS = 20


def selection_bias(logs: Floats) -> float:
    """By how much the largest of k centres exceeds what the same choice yields in other rounds.

    logs: shape (k, n), the logarithms of k subjects over the same n rounds, larger is better. Half
    of the rounds choose the best and the other half measure it, for both halves of 20 random
    splits. What they measure was not selected, so it is not biased. At least 0; 0 if k is 1 or n is
    below 3. Fixed for the same numbers.
    """
    subjects, rounds = logs.shape
    if subjects < 2 or rounds < LEAST:
        return 0.0
    own = logs - logs.mean(axis=0)
    random = np.random.default_rng(rounds)
    orders = np.array([random.permutation(rounds) for _ in range(SPLITS)])
    first, second = (
        centre(own[:, half]) for half in (orders[:, : rounds // 2], orders[:, rounds // 2 :])
    )
    splits = np.arange(SPLITS)
    measured = [second[first.argmax(axis=0), splits], first[second.argmax(axis=0), splits]]
    return max(0.0, float(np.max(centre(own))) - float(np.mean(measured)))
