"""Rounds in blocks, such as days: how sure a mean over few blocks is.

Rounds of one block share its state, so the scatter of rounds does not hold what differs between
blocks. Two blocks hardly tell it: Student's interval of their means has one degree of freedom. So
the variance between the means of blocks is pooled over all subjects, and moderated by a prior: what
the rounds alone would give it, and a typical difference of blocks. All subjects share the baseline:
if it differs from block to block, each of them shows the same difference. So they tell no more than
one of them, and the pooled variance has its degrees of freedom. G. K. Smyth, "Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments",
Statistical Applications in Genetics and Molecular Biology 3 (2004) article 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEAST = 3
"""Rounds of a block that tells something."""

PRIOR = 2
"""Degrees of freedom that the prior counts for."""


@dataclass(frozen=True)
class BlockError:
    """error: the standard error of the mean over all blocks. degrees: of freedom of it."""

    error: float
    degrees: float


def block_error(
    subjects: Sequence[Sequence[Sequence[float]]], typical: float = 0.0
) -> BlockError | None:
    """subjects: of each the logarithms of its ratios, a list for each block. typical: deviation
    between blocks, if nothing is known.

    None if there is no subject with two blocks of 3 rounds. Every subject has the same error, of
    the degrees of freedom that the subject with fewest blocks has.
    """
    between, within, blocks = [], [], []
    for subject in subjects:
        known = [np.asarray(block) for block in subject if len(block) >= LEAST]
        if len(known) < 2:
            continue
        means = np.array([block.mean() for block in known])
        between.append((float(means.var(ddof=1)), len(known) - 1))
        within.append(np.mean([block.var(ddof=1) / len(block) for block in known]))
        blocks.append(len(known))
    if not between:
        return None
    degrees = min(blocks) - 1
    pooled = sum(variance * free for variance, free in between) / sum(free for _, free in between)
    prior = float(np.mean(within)) + typical**2
    moderated = (PRIOR * prior + degrees * pooled) / (PRIOR + degrees)
    return BlockError(float(np.sqrt(moderated / min(blocks))), PRIOR + degrees)
