"""Does a process change the one that runs after it?

A program that leaves dirty pages, a cache on the disk or heat behind slows its successor. In a
random order a subject never follows itself within a round, so the baseline follows a subject more
often than the subject does, and the subject looks better than it is. A second label of the baseline
does not show that: both labels follow the subject equally often.

The model is log value = round + subject + predecessor (B. Jones and M. G. Kenward, "Design and
Analysis of Cross-Over Trials", 2014, chapter 5; D. Duplyakin et al., "Avoiding the Ordering Trap in
Systems Performance Measurement", USENIX ATC 2023). The orders were drawn at random, so the test
draws them again: values stay with their round and subject, and predecessors change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwise.stats.arrays import Floats

LEAST_ROUNDS = 6

SCREEN, SCREENING, ORDERS = 0.05, 99, 1999
"""A few orders are drawn first. Only if less than this share of them explains as much are as many
drawn as a small p-value takes."""

FENCE = 4.0
"""Residuals beyond this many standard deviations (by the median) count as if they were there."""

Places = NDArray[np.intp]


@dataclass(frozen=True)
class CarryOver:
    """after: predecessor -> how far the logarithms of values after it are from the mean of all.
    p_value: of the test that the predecessor does not matter."""

    after: dict[str, float]
    p_value: float


def carry_over(
    rounds: Sequence[int], names: Sequence[str], logs: Sequence[float]
) -> CarryOver | None:
    """All processes in the order of time, as three lists of one length; nan for a process without a
    value. None below 6 rounds, or if the values do not vary."""
    numbers, values = np.asarray(rounds), np.asarray(logs, dtype=np.float64)
    labels, subjects = np.unique(np.asarray(names), return_inverse=True)
    known = np.isfinite(values)
    known[:1] = False
    if len(labels) < 2 or len(set(numbers[known].tolist())) < LEAST_ROUNDS:
        return None
    model = _Model.of(numbers[known], subjects[known], values[known], len(labels))
    if not model.residuals.any():
        return None
    before = np.concatenate(([0], subjects[:-1]))[known]
    explained = model.explained(before)
    random = np.random.default_rng(len(values))

    def share(orders: int) -> float:
        drawn = (_drawn(random, numbers, subjects)[known] for _ in range(orders))
        hits = sum(model.explained(each) >= explained * (1 - 1e-9) for each in drawn)
        return (1 + hits) / (1 + orders)

    p_value = share(SCREENING)
    if p_value <= SCREEN:
        p_value = share(ORDERS)
    effects = model.effects(before)
    return CarryOver({str(labels[place]): float(effects[place]) for place in set(before)}, p_value)


def _drawn(random: np.random.Generator, rounds: Places, subjects: Places) -> Places:
    """The predecessor of each process, had the orders of all rounds been drawn again."""
    order = np.lexsort((random.random(len(rounds)), rounds))
    before = np.empty_like(subjects)
    before[order] = np.concatenate(([0], subjects[order][:-1]))
    return before


@dataclass(frozen=True)
class _Model:
    """residuals: what round and subject leave of the values. basis: of the subjects."""

    rounds: Places
    residuals: Floats
    basis: Floats
    labels: int

    @staticmethod
    def of(rounds: Places, subjects: Places, values: Floats, labels: int) -> _Model:
        _, numbers = np.unique(rounds, return_inverse=True)
        marks = _centred(_marks(subjects, labels), numbers)
        left, sizes, _ = np.linalg.svd(marks, full_matrices=False)
        basis = left[:, sizes > 1e-9 * max(1.0, float(sizes[0]))]
        residuals = _without(basis, _centred(values[:, None], numbers))[:, 0]
        spread = 1.4826 * float(np.median(np.abs(residuals)))
        if spread > 0:
            residuals = np.clip(residuals, -FENCE * spread, FENCE * spread)
        return _Model(numbers, residuals, basis, labels)

    def _design(self, before: Places) -> Floats:
        return _without(self.basis, _centred(_marks(before, self.labels), self.rounds))

    def effects(self, before: Places) -> Floats:
        design = self._design(before)
        found: Floats = np.linalg.pinv(design.T @ design, rcond=1e-9) @ (design.T @ self.residuals)
        return found - np.average(found, weights=np.bincount(before, minlength=self.labels))

    def explained(self, before: Places) -> float:
        design = self._design(before)
        return float((design.T @ self.residuals) @ self.effects(before))


def _marks(labels: Places, number: int) -> Floats:
    return np.asarray(np.eye(number)[labels], dtype=np.float64)


def _centred(values: Floats, rounds: Places) -> Floats:
    """Less the mean of the round."""
    sums = np.zeros((int(rounds.max()) + 1, values.shape[1]))
    np.add.at(sums, rounds, values)
    return np.asarray(values - (sums / np.bincount(rounds)[:, None])[rounds], dtype=np.float64)


def _without(basis: Floats, values: Floats) -> Floats:
    return np.asarray(values - basis @ (basis.T @ values), dtype=np.float64)
