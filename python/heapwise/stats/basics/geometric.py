"""The geometric mean, which refuses to be computed over survivors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


class MissingCells(ValueError):
    """Some cells have no number; ``cells`` names them."""

    def __init__(self, cells: list[str]) -> None:
        super().__init__(f"no geometric mean: nothing was measured in {', '.join(cells)}")
        self.cells = cells


def geometric_mean(ratios: Mapping[str, float | None]) -> float:
    """exp of the mean log of ratios (no unit), one for each named cell.

    A subject that crashed where others were slow would look better for it, so a None raises
    MissingCells. Raises ValueError for no cell or a ratio that is not finite and positive.
    Source: P. J. Fleming and J. J. Wallace, "How not to lie with statistics: the correct way to
    summarize benchmark results", CACM 29 (1986) 218-221.
    """
    missing = [name for name, ratio in ratios.items() if ratio is None]
    if missing:
        raise MissingCells(missing)
    numbers = np.asarray(list(ratios.values()), dtype=np.float64)
    if len(numbers) == 0 or not np.all(np.isfinite(numbers) & (numbers > 0)):
        raise ValueError("a geometric mean needs finite ratios above zero")
    return float(np.exp(np.mean(np.log(numbers))))
