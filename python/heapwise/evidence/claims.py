"""Every comparison that a run makes, and which of them survive being made together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heapwise.evidence.series import Cell, Table, pair, ratio_of
from heapwise.stats.holm import holm
from heapwise.stats.trend import lag_one

LEVEL = 0.05


@dataclass(frozen=True)
class Claim:
    """One comparison with the baseline; p_adjusted is Holm's, within its cell and quantity."""

    cell: Cell
    subject: str
    p_value: float
    p_adjusted: float
    n: int
    unit: str
    differs: bool
    lag_one: float | None
    comparisons: int

    @property
    def survives(self) -> bool:
        return self.p_adjusted < LEVEL


def claims(table: Table, baselines: Mapping[str, str], controls: Mapping[str, str]) -> list[Claim]:
    """Every subject against its baseline, controls aside, adjusted within each cell.

    baselines, controls: experiment -> subject.
    """
    found: list[Claim] = []
    for cell, row in table.items():
        baseline = baselines.get(cell.experiment, "")
        aside = {baseline, controls.get(cell.experiment)}
        if baseline not in row:
            continue
        group = []
        for subject, series in row.items():
            ratio, _ = (None, "") if subject in aside else ratio_of(series, row[baseline])
            if ratio is not None:
                group.append((subject, ratio, pair(series, row[baseline])))
        adjusted = holm([ratio.p_value for _, ratio, _ in group])
        for (subject, ratio, pairs), p in zip(group, adjusted, strict=True):
            differs = ratio.low is not None and ratio.high is not None and (
                ratio.low > 1 or ratio.high < 1)
            logs = list(np.log(pairs.above) - np.log(pairs.below))
            found.append(Claim(cell, subject, ratio.p_value, p, ratio.n, pairs.unit, differs,
                               lag_one(logs), len(group)))
    return found
