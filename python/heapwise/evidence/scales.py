"""How much the ratio of each subject to its baseline scatters, by all subjects of its cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from heapwise.evidence.evidence import Evidence
from heapwise.evidence.series import Pairs, Side
from heapwise.model import Cell
from heapwise.stats.ratios.pooled_scale import PooledScale, pooled_scales

_CONTROL_ERROR = 0.75**0.5
"""The ratio of the baseline's two labels has four thirds of the variance of a subject's ratio to
the mean of both, if all scatter alike."""


@dataclass(frozen=True)
class SubjectScales:
    """Each cell is computed at its first use, and once. pairs: the rounds that both sides were
    measured in."""

    evidence: Evidence
    pairs: Callable[[Side, Side], Pairs]

    def of(self, above: Side, below: Side) -> PooledScale | None:
        """The scale of a subject's ratio to its baseline; None of any other ratio."""
        cell, subject = above
        if below != (cell, self.evidence.baselines.get(cell.experiment)):
            return None
        if cell not in self._known:
            self._known[cell] = self._of_cell(cell)
        return self._known[cell].get(subject)

    @cached_property
    def _known(self) -> dict[Cell, dict[str, PooledScale]]:
        return {}

    def _of_cell(self, cell: Cell) -> dict[str, PooledScale]:
        """Subject -> its scale, by all subjects of the cell and the second label of the baseline.
        Without that label nothing shows that equal things come out equal, and there are none."""
        baseline, control = (
            names.get(cell.experiment, "")
            for names in (self.evidence.baselines, self.evidence.controls)
        )
        row = self.evidence.table[cell]
        if baseline not in row or control not in row:
            return {}
        is_relative = self.evidence.quantities[cell.experiment, cell.quantity].relative
        errors: dict[str, float] = {}
        rounds: dict[str, int] = {}
        for subject in row.keys() - {baseline}:
            found, _ = self.pairs((cell, subject), (cell, baseline)).ratio()
            if found is not None and found.error is not None:
                shrunk = _CONTROL_ERROR if subject == control and not is_relative else 1.0
                errors[subject], rounds[subject] = shrunk * found.error, found.n
        if control not in errors:
            return {}
        scales = pooled_scales([*errors.values()], [*rounds.values()])
        return {
            subject: scale
            for subject, scale in zip(errors, scales, strict=True)
            if subject != control
        }
