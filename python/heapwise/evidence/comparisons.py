"""The ratios of a run, with their intervals and noise floors: each subject with its baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from heapwise.evidence.claims import Claim, claims_of
from heapwise.evidence.evidence import Evidence
from heapwise.evidence.scales import SubjectScales
from heapwise.evidence.series import Pairs, Side, by_layout, pair
from heapwise.evidence.sessions import session_error, sessions_of
from heapwise.evidence.step import relative_step
from heapwise.model import Cell
from heapwise.stats.ratios.blocks import BlockError
from heapwise.stats.ratios.noise import NoiseFloor, noise_floor
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.stats.series.dependence import (
    LEAST_ROUNDS,
    Dependence,
    dependence,
    own_dependence,
    untested,
)


@dataclass(frozen=True)
class Comparisons:
    """Immutable, like the evidence. ``comparisons_of`` makes one for each evidence."""

    evidence: Evidence

    def _is_relative(self, cell: Cell) -> bool:
        return self.evidence.quantities[cell.experiment, cell.quantity].relative

    @cached_property
    def control_pairs(self) -> dict[Cell, Pairs]:
        """As ``control_rounds``. Of builds that were linked again, each layout is a pair."""
        return {cell: self._by_layout(pairs) for cell, pairs in self.control_rounds.items()}

    def _by_layout(self, pairs: Pairs) -> Pairs:
        return by_layout(pairs, self.evidence.stored.run.plan.layouts)

    @cached_property
    def control_rounds(self) -> dict[Cell, Pairs]:
        """The A/A pairs of each cell where baseline and control were both measured above zero."""
        found: dict[Cell, Pairs] = {}
        for cell, row in self.evidence.table.items():
            baseline, control = (
                names.get(cell.experiment, "")
                for names in (self.evidence.baselines, self.evidence.controls)
            )
            if baseline in row and control in row:
                pairs = pair(row[baseline].rounds, row[control].rounds)
                if pairs.has_ratio:
                    found[cell] = pairs
        return found

    def pairs(self, above: Side, below: Side) -> Pairs:
        """The rounds that both were measured in. Of builds that were linked again, each layout is
        a pair."""
        return self._by_layout(self.of_rounds(above, below))

    def of_rounds(self, above: Side, below: Side) -> Pairs:
        """The rounds that both were measured in."""
        return pair(self._rounds(above, below), self._rounds(below, above))

    def ratio(self, above: Side, below: Side) -> tuple[PairedRatio | None, str]:
        """above / below with its interval, and a note; None where there is no ratio."""
        if (above, below) not in self._ratios:
            found, note = self.pairs(above, below).ratio()
            tied, own = self.dependence_of(above[0]), self.own_dependence(above, below)
            step = (self.step(*above) + self.step(*below)) / 2
            days = self._session_errors[above[0]]
            usual = self._calibration(above, below)
            scale = self._scales.of(above, below)
            if found is not None and scale is not None:
                found = found.on(scale)
            self._ratios[above, below] = (
                found
                and found.widened(
                    usual * max(tied.factor, own.factor if own else 1.0),
                    usual * max(tied.strict_factor, own.strict_factor if own else 1.0),
                )
                .at_least(*((days.error, days.degrees) if days else (0.0, 1.0)))
                .blurred(step),
                note,
            )
        return self._ratios[above, below]

    def _calibration(self, above: Side, below: Side) -> float:
        return max(self.evidence.calibration(cell.quantity) for cell, _ in (above, below))

    @cached_property
    def _scales(self) -> SubjectScales:
        return SubjectScales(self.evidence, self.pairs)

    @cached_property
    def _session_errors(self) -> dict[Cell, BlockError | None]:
        """How sure the ratios of each cell are, since sessions differ."""
        sessions = self.evidence.once(sessions_of)
        if not any(sessions.values()):
            return dict.fromkeys(self.evidence.table)
        return {
            cell: session_error(
                [self.pairs((cell, subject), (cell, base)) for subject in others],
                sessions,
                self.evidence.quantities[cell.experiment, cell.quantity].unit,
            )
            for cell, base, others in self._contests()
        }

    def _contests(self) -> Iterator[tuple[Cell, str, list[str]]]:
        """Each cell, its baseline, and the subjects that are compared with it. A cell without its
        baseline has none."""
        for cell, row in self.evidence.table.items():
            base = self.evidence.baselines.get(cell.experiment, "")
            aside = {base, self.evidence.controls.get(cell.experiment)}
            yield cell, base, [name for name in row if name not in aside and base in row]

    @cached_property
    def _ratios(self) -> dict[tuple[Side, Side], tuple[PairedRatio | None, str]]:
        return {}

    def own_dependence(self, above: Side, below: Side) -> Dependence | None:
        """The dependence of the rounds of this ratio alone; None if they show none. Only of
        comparisons: among the hundreds of rows of ``run`` one in twenty would be widened by
        chance."""
        if not self.evidence.stored.run.plan.traits.whole_programs:
            return None
        pairs = self.pairs(above, below)
        return own_dependence(_logs(pairs)) if pairs.has_ratio else None

    def drifts(self, above: Side, below: Side) -> float | None:
        """The correlation of its own rounds, if without it the strict interval of the ratio would
        exclude 1, and does not with it; else None."""
        ratio, _ = self.ratio(above, below)
        own = self.own_dependence(above, below)
        if own is None or ratio is None or ratio.strict is None:
            return None
        low, high = ratio.strict
        if not low <= 1 <= high:
            return None
        tied = self.dependence_of(above[0])
        usual, _ = self.pairs(above, below).ratio()
        scale = self._scales.of(above, below)
        if usual is not None and scale is not None:
            usual = usual.on(scale)
        known = self._calibration(above, below)
        strict = usual and usual.widened(known * tied.factor, known * tied.strict_factor).strict
        return own.lag_one if strict and not strict[0] <= 1 <= strict[1] else None

    def step(self, cell: Cell, subject: str) -> float:
        """The relative distance of neighbouring numbers; 0 where it does not matter."""
        quantity = self.evidence.quantities.get((cell.experiment, cell.quantity))
        if quantity is None:
            return 0.0
        tried = self.evidence.tried.get(cell.setup, {}).get(subject, [])
        return relative_step(quantity, self.evidence.table[cell][subject].rounds.values(), tried)

    def _rounds(self, side: Side, other: Side) -> dict[int, float]:
        """Round -> value. Of the baseline the mean of its two labels: both are the same thing, so
        the mean has half the variance. Against the control it stands for itself."""
        cell, subject = side
        control = self.evidence.controls.get(cell.experiment, "")
        row = self.evidence.table[cell]
        if (
            subject != self.evidence.baselines.get(cell.experiment)
            or other == (cell, control)
            or (control not in row)
            or self._is_relative(cell)
        ):
            return row[subject].rounds
        return _means(row[subject].rounds, row[control].rounds)

    @cached_property
    def dependence(self) -> dict[str, Dependence]:
        """Experiment -> how its rounds depend on each other, by its first quantity."""
        series: dict[str, list[Pairs]] = {id: [] for id in self.evidence.experiments}
        for cell in self.evidence.table:
            experiment = self.evidence.experiments.get(cell.experiment)
            if experiment is not None and cell.quantity == experiment.quantities[0].name:
                series[cell.experiment] += self._series(cell)
        return {id: _dependence(found) for id, found in series.items()}

    def dependence_of(self, cell: Cell) -> Dependence:
        """How the rounds of a cell depend on each other. Rounds in which subjects ran beside the
        baseline are other rounds, and have their own."""
        if not self._is_relative(cell):
            return self.dependence[cell.experiment]
        return self._dependence_together[cell.experiment]

    @cached_property
    def _dependence_together(self) -> dict[str, Dependence]:
        series: dict[str, list[Pairs]] = {id: [] for id in self.evidence.experiments}
        for cell in self.evidence.table:
            if self._is_relative(cell):
                series[cell.experiment] += self._series(cell)
        return {id: _dependence(found) for id, found in series.items()}

    def _series(self, cell: Cell) -> list[Pairs]:
        """Each subject of a cell with its baseline."""
        row, baseline = self.evidence.table[cell], self.evidence.baselines[cell.experiment]
        found = (
            self.pairs((cell, name), (cell, baseline))
            for name in row
            if name != baseline and baseline in row
        )
        return [pairs for pairs in found if pairs.has_ratio]

    @cached_property
    def noise(self) -> dict[Cell, NoiseFloor]:
        """How far each cell's baseline strays from itself."""
        found = {
            cell: noise_floor(
                one.above,
                one.below,
                self.evidence.calibration(cell.quantity) * self.dependence_of(cell).factor,
                self.step(cell, self.evidence.baselines[cell.experiment]),
                len(self.evidence.table[cell]) - 2,
            )
            for cell, one in self.control_pairs.items()
        }
        return {cell: floor for cell, floor in found.items() if floor is not None}

    @cached_property
    def floors(self) -> dict[Cell, float]:
        """Relative: 0.02 is 2 %."""
        return {cell: found.floor for cell, found in self.noise.items()}

    @cached_property
    def claims(self) -> dict[tuple[Cell, str], Claim]:
        """Every comparison of a subject with its baseline."""
        found: dict[tuple[Cell, str], Claim] = {}
        for cell, base, others in self._contests():
            asked = {name: self.ratio((cell, name), (cell, base))[0] for name in others}
            ratios = {name: ratio for name, ratio in asked.items() if ratio is not None}
            drifts = {name: self.drifts((cell, name), (cell, base)) for name in ratios}
            found |= {(cell, one.subject): one for one in claims_of(cell, ratios, drifts)}
        return found


def _dependence(found: list[Pairs]) -> Dependence:
    """The dependence of the series over all rounds; each may lack some."""
    if not found:
        return untested()
    rounds = sorted({number for pairs in found for number in pairs.rounds})
    series = np.full((len(found), len(rounds)), np.nan)
    for row, pairs in zip(series, found, strict=True):
        row[np.searchsorted(rounds, pairs.rounds)] = _logs(pairs)
    enough = np.isfinite(series).sum(axis=1) >= min(LEAST_ROUNDS, len(rounds))
    return dependence(series[enough].tolist()) if enough.any() else untested()


def _logs(pairs: Pairs) -> list[float]:
    found: list[float] = np.log(np.divide(pairs.above, pairs.below)).tolist()
    return found


def _means(first: dict[int, float], second: dict[int, float]) -> dict[int, float]:
    """The geometric mean of both, or the one that there is; the first alone where one is zero."""
    if min(*first.values(), *second.values()) <= 0:
        return first
    return {
        number: sqrt(
            first.get(number, second.get(number, 0.0)) * second.get(number, first.get(number, 0.0))
        )
        for number in sorted(first.keys() | second.keys())
    }


def comparisons_of(evidence: Evidence) -> Comparisons:
    """The same object at each call."""
    return evidence.once(Comparisons)
