"""What experiments expect of themselves, judged from the intervals of this run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from heapwise.analysis.verdicts.rows import cell_place, outcome_of
from heapwise.analysis.verdicts.verdict import Figure, floor_of, kept
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Side
from heapwise.model import (
    Cell,
    Expectation,
    Expected,
    Experiment,
    Setting,
    Settings,
    SubjectName,
    name_with_peer,
    same_setting,
)
from heapwise.stats.basics.student import LEAST
from heapwise.stats.series.center import location_interval
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import Scale, scale_for, significant

ExpectationWord = Literal["met", "not met", "cannot tell here", "not measured"]

WORST_FIRST: tuple[ExpectationWord, ...] = ("not met", "cannot tell here", "met", "not measured")
"""A part that was not measured is counted in the note, and hides no other."""

SMOKE = "a smoke run is too short to tell"


def expectations(evidence: Evidence) -> list[Expected]:
    """One for each expectation of each experiment of a run; none for comparisons."""
    return [
        _judged(evidence, experiment, expectation)
        for experiment in evidence.stored.run.experiments
        for expectation in experiment.expectations
    ]


def _judged(evidence: Evidence, experiment: Experiment, expectation: Expectation) -> Expected:
    parts = [
        _part(evidence, experiment, expectation, parameters, subject)
        for parameters in _cells(evidence, experiment, expectation)
        for subject in _named(evidence, experiment, expectation.subject)
    ]
    if not parts:
        wanted = cell_words(expectation.parameters)
        reason = (
            f"no cell with {wanted} in this run"
            if wanted
            else (f"{expectation.subject} is not in this run")
        )
        return Expected(
            experiment.id,
            expectation.says,
            _of(expectation, expectation.subject, expectation.over, {}),
            _aim(expectation, _unit(experiment, expectation)),
            _unit(experiment, expectation),
            None,
            None,
            None,
            "not measured",
            reason,
        )
    return parts[0] if len(parts) == 1 else _together(expectation, parts)


def _together(expectation: Expectation, parts: list[Expected]) -> Expected:
    """The worst of them stands for all; how many there are is in the note."""

    def badness(part: Expected) -> tuple[int, float]:
        return WORST_FIRST.index(part.verdict), _margin(expectation, part)

    worst = min(parts, key=badness)
    counts = [
        f"{n} {word}" for word in WORST_FIRST if (n := sum(part.verdict == word for part in parts))
    ]
    notes = [f"the worst of {len(parts)} cells: {', '.join(counts)}", worst.note]
    return replace(worst, parts=parts, note="; ".join(note for note in notes if note))


def _margin(expectation: Expectation, part: Expected) -> float:
    """How far inside the bounds, relative to them; less is worse."""
    if part.value is None:
        return np.inf
    below = part.value / expectation.at_least if expectation.at_least > 0 else np.inf
    top = expectation.at_most
    above = (
        np.inf
        if top is None
        else top / part.value
        if part.value > 0 and top > 0
        else (0.0 if part.value > top else np.inf)
    )
    return float(min(below, above))


def _cells(evidence: Evidence, experiment: Experiment, expectation: Expectation) -> list[Settings]:
    """Those tried whose parameters are as the expectation names them."""
    found = [
        parameters
        for name, parameters in evidence.tried
        if name == experiment.id and _fits(parameters, expectation.parameters)
    ]
    return sorted(found, key=lambda parameters: cell_place(experiment, parameters))


def _fits(cell: Settings, wanted: Mapping[str, Setting]) -> bool:
    return cell.get("touch") != "none" and all(
        name in cell and same_setting(cell[name], value) for name, value in wanted.items()
    )


def _named(evidence: Evidence, experiment: Experiment, name: str) -> list[str]:
    """The subject itself, or each peer that a subject of the kind malloc became."""
    known = [spec.name for spec in experiment.subjects if spec.name in evidence.subjects]
    return [n for n in known if name in (n, SubjectName.parse(n).inner)]


def _partner(evidence: Evidence, experiment: Experiment, over: str, subject: str) -> str:
    """``over`` of the same peer where both are of the kind malloc, else of the baseline."""
    names = _named(evidence, experiment, over)
    same = name_with_peer(over, SubjectName.parse(subject).peer)
    if not names or over in names:
        return over
    return same if same in names else next((n for n in names if n == experiment.baseline), names[0])


def _part(
    evidence: Evidence,
    experiment: Experiment,
    expectation: Expectation,
    parameters: Settings,
    subject: str,
) -> Expected:
    over = _partner(evidence, experiment, expectation.over, subject) if expectation.over else ""
    unit = _unit(experiment, expectation)
    blank = Expected(
        experiment.id,
        expectation.says,
        _of(expectation, subject, over, _shown(evidence, experiment, parameters)),
        _aim(expectation, unit),
        unit,
        None,
        None,
        None,
        "not measured",
    )
    needed = [(parameters, subject)]
    if over:
        needed.append((parameters | expectation.over_parameters, over))
    sides = [
        (Cell(experiment.id, settings, expectation.quantity), name) for settings, name in needed
    ]
    for side in sides:
        if trouble := trouble_of(evidence, side):
            return replace(blank, verdict=trouble[0], note=trouble[1])
    figure = (
        _ratio(evidence, sides[0], sides[1])
        if over
        else value_of(evidence, sides[0], never=expectation.at_most == 0)
    )
    if isinstance(figure, str):
        return replace(blank, verdict="cannot tell here", note=figure)
    verdict: ExpectationWord = kept(
        figure, expectation.at_least, expectation.at_most, floor_of(evidence, sides)
    )
    note = figure.note
    if evidence.stored.run.plan.smoke:
        verdict, note = "cannot tell here", SMOKE
    return replace(
        blank, value=figure.value, low=figure.low, high=figure.high, verdict=verdict, note=note
    )


def trouble_of(evidence: Evidence, side: Side) -> tuple[ExpectationWord, str] | None:
    """Why there is nothing to judge, or nothing that may be judged."""
    cell, subject = side
    tried = evidence.tried.get(cell.setup, {}).get(subject, [])
    if not tried:
        return "not measured", f"{subject} was not measured there"
    status, reason = outcome_of(evidence, cell.setup, [subject])
    present = subject in evidence.table.get(cell, {})
    if status != "ok":
        return ("cannot tell here" if present else "not measured"), f"{subject}: {reason}"
    return None if present else ("not measured", f"{subject} has no {cell.quantity}")


def _ratio(evidence: Evidence, above: Side, below: Side) -> Figure | str:
    ratio, note = comparisons_of(evidence).ratio(above, below)
    return note if ratio is None else Figure.of(ratio, note)


def value_of(evidence: Evidence, side: Side, *, never: bool = False) -> Figure:
    """The median of the rounds. Never means in no repeat at all, which a median would not notice.
    Once disproves it, and it takes as many rounds as any interval to show it."""
    cell, subject = side
    series = evidence.table[cell][subject]
    if never and (max(series.values) > 0 or len(series.rounds) >= LEAST):
        return Figure(
            series.middle,
            min(series.values),
            max(series.values),
            "of all repeats, not of their median",
        )
    found = location_interval(
        list(series.rounds.values()), step=comparisons_of(evidence).step(cell, subject)
    )
    return Figure(series.middle, found.low, found.high, found.note)


def _unit(experiment: Experiment, expectation: Expectation) -> str:
    if expectation.over:
        return "x"
    return next((q.unit for q in experiment.quantities if q.name == expectation.quantity), "")


def _shown(evidence: Evidence, experiment: Experiment, parameters: Settings) -> dict[str, Setting]:
    """Those of which this run has several values."""
    cells = [settings for name, settings in evidence.tried if name == experiment.id]
    return {
        name: value
        for name, value in parameters.items()
        if len({str(cell.get(name)) for cell in cells}) > 1
    }


def _of(
    expectation: Expectation, subject: str, over: str, parameters: Mapping[str, Setting]
) -> str:
    """``random / sequential, latency, size 64``."""
    changed = expectation.over_parameters
    moved = cell_words(changed)
    ratio = f" / {over}{f' with {moved}' if moved else ''}" if over else ""
    words = [
        f"{subject}{ratio}",
        quantity_name(expectation.quantity),
        cell_words(parameters or expectation.parameters),
    ]
    return ", ".join(word for word in words if word)


def _aim(expectation: Expectation, unit: str) -> str:
    """``at least 2x``, ``0.1 to 5 µs``, ``at most 1``."""
    low, high = expectation.at_least, expectation.at_most
    scale = _scale([low, high], unit)
    if high is None:
        return f"at least {_text(low, scale)}"
    if low > 0:
        return f"{_number(low, scale)} to {_text(high, scale)}"
    return f"at most {_text(high, scale)}" if high else "never"


def _scale(values: list[float | None], unit: str) -> Scale:
    return scale_for(values, unit)


def _number(value: float, scale: Scale) -> str:
    return f"{value / scale.factor:.3g}"


def _text(value: float, scale: Scale) -> str:
    return (
        f"{_number(value, scale)}{scale.label}"
        if scale.label == "x"
        else (f"{_number(value, scale)} {scale.label}".rstrip())
    )


def figures_of(expected: Expected) -> str:
    """``2.41x, 2.38 to 2.44``; empty where nothing was measured."""
    if expected.value is None:
        return ""
    scale = _scale([expected.value, expected.low, expected.high], expected.unit)
    ends = (
        ", no interval"
        if expected.low is None or expected.high is None
        else (f", {scale.ends(expected.low, expected.high)}")
    )
    gap = "" if scale.label == "x" or not scale.label else " "
    return f"{significant(expected.value / scale.factor)}{gap}{scale.label}{ends}"


def expected_line(expected: Expected) -> str:
    """``met  cache/levels: a miss costs at least twice: chase ... = 2.4x (expected: ...)``."""
    value = f" = {figures}" if (figures := figures_of(expected)) else ""
    note = f"; {expected.note}" if expected.note else ""
    return (
        f"{expected.verdict:16}  {expected.experiment}: {expected.says}: {expected.of}{value} "
        f"(expected: {expected.aim}{note})"
    )


def flat(found: list[Expected]) -> Iterator[Expected]:
    """Each with its parts, if it has any."""
    for expected in found:
        yield expected
        yield from expected.parts
