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

from heapwise.stats.basics.arrays import Floats

LEAST_ROUNDS = 6

SCREEN, SCREENING, ORDERS = 0.05, 99, 999
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
    """residuals: what round and subject leave of the values, orthogonal to both. basis: of the
    subjects, orthogonal to the rounds."""

    rounds: Places
    residuals: Floats
    basis: Floats
    labels: int

    @staticmethod
    def of(rounds: Places, subjects: Places, values: Floats, labels: int) -> _Model:
        _, numbers = np.unique(rounds, return_inverse=True)
        marks = _centred(np.eye(labels)[subjects], numbers)
        left, sizes, _ = np.linalg.svd(marks, full_matrices=False)
        basis = left[:, sizes > 1e-9 * max(1.0, float(sizes[0]))]
        residuals = _without(basis, _centred(values[:, None], numbers))
        spread = 1.4826 * float(np.median(np.abs(residuals)))
        if spread > 0:
            clipped = np.clip(residuals, -FENCE * spread, FENCE * spread)
            residuals = _without(basis, _centred(clipped, numbers))
        return _Model(numbers, residuals[:, 0], basis, labels)

    def explained(self, before: Places) -> float:
        sums = self._sums(before)
        return float(sums @ self._solved(before, sums))

    def effects(self, before: Places) -> Floats:
        found = self._solved(before, self._sums(before))
        counts = np.bincount(before, minlength=self.labels)
        return np.asarray(found - np.average(found, weights=counts), dtype=np.float64)

    def _sums(self, before: Places) -> Floats:
        return np.asarray(
            np.bincount(before, weights=self.residuals, minlength=self.labels), dtype=np.float64
        )

    def _solved(self, before: Places, sums: Floats) -> Floats:
        """The least squares of the residuals by the predecessor, less its rounds and subjects."""
        places = self.rounds * self.labels + before
        size = int(self.rounds.max()) + 1, self.labels
        cells: Floats = np.bincount(places, minlength=size[0] * size[1]).astype(np.float64)
        cells = cells.reshape(size)
        inside = self.basis.T @ np.eye(self.labels)[before]
        within = cells.T @ (cells / cells.sum(axis=1, keepdims=True))
        gram = np.diag(cells.sum(axis=0)) - within - inside.T @ inside
        found: Floats = np.linalg.pinv(gram, rcond=1e-9, hermitian=True) @ sums
        return found


def _centred(values: Floats, rounds: Places) -> Floats:
    """Less the mean of the round."""
    sums = np.zeros((int(rounds.max()) + 1, values.shape[1]))
    np.add.at(sums, rounds, values)
    return np.asarray(values - (sums / np.bincount(rounds)[:, None])[rounds], dtype=np.float64)


def _without(basis: Floats, values: Floats) -> Floats:
    return np.asarray(values - basis @ (basis.T @ values), dtype=np.float64)
