"""The lead of the best, stated so that choosing it for its figures does not enlarge it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heapwise.analysis.verdicts.gain import gain, quantity_of
from heapwise.evidence import Evidence
from heapwise.model import Cell
from heapwise.stats.basics.student import LEAST
from heapwise.stats.claims.selection import selection_bias
from heapwise.stats.ratios.paired import PairedRatio


def bias_of_best(evidence: Evidence, cell: Cell, best: str, candidates: Sequence[str]) -> float:
    """By how much the best of the candidates looks better than it is (a logarithm, at least 0).

    From the rounds that all share; a candidate that shares fewer than 3 with the best is left out.
    """
    row = evidence.table[cell]
    series = [
        row[name].rounds
        for name in candidates
        if len(row[name].rounds.keys() & row[best].rounds.keys()) >= LEAST
    ]
    shared = sorted(set.intersection(*map(set, series))) if series else []
    values = np.array([[rounds[number] for number in shared] for rounds in series])
    if values.size == 0 or values.min() <= 0:
        return 0.0
    sign = 1 if quantity_of(evidence, cell).better == "higher" else -1
    return selection_bias(sign * np.log(values))


def lead(
    evidence: Evidence, cell: Cell, best: str, candidates: Sequence[str], rival: str
) -> PairedRatio | None:
    """How many times better the best of the candidates is than a rival.

    The rival may be one of them: then equal candidates are told apart in under 5 of 100 cells,
    together with the noise floor.
    """
    found, _ = gain(evidence, cell, best, rival)
    return found and found.less(bias_of_best(evidence, cell, best, candidates))
