"""Verdicts as sentences: each from the pairs of its cell, so that none can outlive its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from heapwise.analysis.gain import is_speed, quantity_of
from heapwise.analysis.rows import outcome, place
from heapwise.analysis.verdict import doubt, floor_of, judge
from heapwise.evidence import Evidence
from heapwise.evidence.claims import LEVEL
from heapwise.evidence.kept import planted
from heapwise.evidence.series import Series, Side, baseline_of
from heapwise.model import Cell, Experiment, Finding, Quantity, same_setting, setting_order
from heapwise.stats.false_discovery import benjamini_hochberg
from heapwise.stats.location import location_interval
from heapwise.stats.paired import PairedRatio
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import ends, percent, scale_for, size, times
from heapwise.wording.ratios import percent_ends, signed_ends

Word = Literal["better", "worse", "no difference", "cannot tell", "not measured"]

LARGE = 1024
"""Bytes that are read more easily in KiB and MiB."""

SMALL = 1.05
"""Up to 5 % a factor has no figures left to show: then it is said in percent."""


def findings(evidence: Evidence) -> list[Finding]:
    """Every subject against its baseline, and every parameter's far end against its first value.

    In the order of the rows; none for smoke runs and comparisons.
    """
    plan = evidence.stored.run.plan
    if plan.smoke or plan.kind != "run":
        return []
    found = [finding for experiment in evidence.stored.run.experiments
             for cell in _cells(evidence, experiment) for finding in (
                 *_subjects(evidence, experiment, cell), *_parameters(evidence, experiment, cell))]
    chances = benjamini_hochberg([f.p_value for f in found])
    found = [replace(f, certain=f.verdict in ("better", "worse") and chance < LEVEL)
             for f, chance in zip(found, chances, strict=True)]
    return list({(f.experiment, f.sentence): f for f in reversed(found)}.values())[::-1]


def headline(found: list[Finding], quantity: str) -> Finding | None:
    """The largest difference that is certain, of this quantity; else the first that was told.

    The largest by the end of its interval nearer to 1, which noise does not enlarge.
    Between subjects, where there is one: a parameter's effect is what the picture shows.
    """
    mine = [f for f in found if f.cell.quantity == quantity]
    sure = [f for f in mine if f.certain]
    if sure:
        chosen = [f for f in sure if not f.parameter] or sure
        return max(chosen, key=lambda f: max(f.low or 0, 1 / (f.high or 1)))
    told = [f for f in mine if f.verdict != "not measured"]
    return next(iter([f for f in told if f.verdict == "no difference"] or told or mine), None)


def _cells(evidence: Evidence, experiment: Experiment) -> list[Cell]:
    """Those tried, with each quantity that some subject yielded there (or the first, if none)."""
    found = []
    for name, key in evidence.tried:
        if name == experiment.id:
            cells = [Cell(name, key, quantity.name) for quantity in experiment.quantities]
            found += [c for c in cells if c in evidence.table] or cells[:1]
    return sorted((c for c in found if not c.is_diagnostic), key=lambda c: place(experiment, c))


def _subjects(evidence: Evidence, experiment: Experiment, cell: Cell) -> Iterator[Finding]:
    base = baseline_of(evidence.stored, experiment)
    row = evidence.table.get(cell, {})
    tried = evidence.tried[cell.setup]
    for name in evidence.subjects:
        if name == base or name in evidence.never_ranked or name not in tried:
            continue
        if evidence.group_of(cell.experiment, name) != evidence.group_of(cell.experiment, base):
            continue  # kinds are not ranked against each other
        if name not in row:
            if not any(name in evidence.table[c] for c in evidence.cells[cell.experiment]
                       if c.setup == cell.setup):
                yield _nothing(evidence, experiment, cell, name, base)
        elif base in row:
            yield from _between(evidence, experiment, ((cell, name), (cell, base)), (name, base),
                                _where(evidence, experiment, cell))


def _parameters(evidence: Evidence, experiment: Experiment, cell: Cell) -> Iterator[Finding]:
    """From the first cell of the experiment: one parameter at a time goes to its other values."""
    first = min((c for c in evidence.cells[experiment.id]
                 if c.quantity == cell.quantity and not c.is_diagnostic),
                key=lambda c: place(experiment, c), default=None)
    if first is None or cell == first:
        return
    here, start = cell.parameters, first.parameters
    moved = [name for name in here if not same_setting(here[name], start.get(name))]
    if len(moved) != 1 or not _is_end(evidence, cell, moved[0]):
        return
    name = moved[0]
    for subject in evidence.subjects:
        if subject in evidence.never_ranked or subject not in evidence.table[cell] or (
                subject not in evidence.table[first]):
            continue
        above, below = (f"{subject} with {_words(experiment, {name: p[name]})}"
                        for p in (here, start))
        yield from _between(evidence, experiment, ((cell, subject), (first, subject)),
                            (above, below), _quantity(experiment, cell), name)


def _is_end(evidence: Evidence, cell: Cell, name: str) -> bool:
    """The largest of numbers; of words each, since they have no order."""
    if cell not in evidence.table:
        return False
    value = cell.parameters[name]
    if not isinstance(value, int | float):
        return True
    every = [c.parameters[name] for c in evidence.cells[cell.experiment]
             if c.quantity == cell.quantity]
    return same_setting(value, max(every, key=setting_order))


def _word(evidence: Evidence, ratio: PairedRatio | None, quantity: Quantity,
          sides: tuple[Side, Side]) -> Word:
    """As the verdict of a row, with the wider of the two floors."""
    for cell, name in sides:
        tried = evidence.tried[cell.setup].get(name, [])
        if outcome(tried)[0] != "ok" or any(planted(process) for process in tried):
            return "cannot tell"
    return judge(ratio, quantity.better, floor_of(evidence, sides))


def _nothing(
    evidence: Evidence, experiment: Experiment, cell: Cell, name: str, base: str
) -> Finding:
    _, reason = outcome(evidence.tried[cell.setup][name])
    where = _where(evidence, experiment, cell, named=False)
    return Finding(cell, name, base, None, None, None,
                   "not measured", f"{where}{name} was not measured: {reason or 'no sample kept'}.")


def _between(evidence: Evidence, experiment: Experiment, sides: tuple[Side, Side],
             names: tuple[str, str], where: str, parameter: str = "") -> Iterator[Finding]:
    """Nothing where both are zero throughout."""
    (cell, _), above, below = sides[0], *names
    first, second = (evidence.table[c][name] for c, name in sides)
    quantity = quantity_of(evidence, cell)
    ratio, note = evidence.ratio(*sides)
    word = _word(evidence, ratio, quantity, sides)
    figures: tuple[float | None, float | None, float | None] = (None, None, None)
    if ratio is not None:
        figures = ratio.ratio, ratio.low, ratio.high
        said = _said(quantity, above, below, ratio, word, note, floor_of(evidence, sides))
    elif not any(first.values) and not any(second.values):
        return
    else:
        said = f"{above} {_count(first, quantity)}, {below} {_count(second, quantity)}"
    yield Finding(cell, above, below, *figures, word, f"{where}{said}.", parameter,
                  ratio.p_value if ratio else 1.0)


def _count(series: Series, quantity: Quantity) -> str:
    """``12.0 per million, 11.0 to 14.0``, ``never``: what has no ratio is said as it is."""
    if not any(series.values):
        return "never"
    scale, interval = scale_for(series.values, quantity.unit), location_interval(
        list(series.rounds.values()))
    between = "" if interval.low is None or interval.high is None else (
        f", {scale.ends(interval.low, interval.high)}")
    return f"{scale.text(series.middle)}{between}"


def _said(quantity: Quantity, above: str, below: str, ratio: PairedRatio | None, word: Word,
          note: str, floor: float | None) -> str:
    if ratio is None or ratio.low is None or ratio.high is None:
        return f"cannot tell {above} from {below} yet: {note or 'too few rounds for an interval'}"
    if word in ("better", "worse"):
        return _difference(quantity, above, below, ratio.ratio, ratio.low, ratio.high)
    reach = max(ratio.high, 1 / ratio.low) - 1
    if word == "no difference":
        within = f"the noise floor of {percent(floor)}" if floor and reach <= floor else (
            f"{percent(reach)}")
        return f"no difference between {above} and {below} beyond {within}"
    between = ", ".join(
        words for words in (signed_ends(ratio.low, ratio.high), doubt(ratio, floor)) if words)
    return f"cannot tell {above} from {below} yet: {between}"


def _difference(quantity: Quantity, above: str, below: str, ratio: float, low: float,
                high: float) -> str:
    """``soa 1.42x faster than aos, 1.40 to 1.44``: always a factor above 1, and its direction."""
    less, more = ("slower", "faster") if is_speed(quantity) else ("less", "more")
    if is_speed(quantity) and quantity.better == "lower":
        less, more = more, less
    word = more if ratio > 1 else less
    if ratio < 1:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    if ratio < SMALL:
        return f"{above} {percent(ratio - 1)} {word} than {below}, {percent_ends(low, high)}"
    return f"{above} {times(ratio)} {word} than {below}, {ends(low, high)}"


def _where(evidence: Evidence, experiment: Experiment, cell: Cell, *, named: bool = True) -> str:
    """``threads 2, latency: ``, of what the experiment has several of."""
    mine = cell.parameters
    every = [key for name, key in evidence.tried if name == experiment.id]
    varying = {k: v for k, v in mine.items() if len({str(p.get(k)) for p in every}) > 1}
    words = [_words(experiment, varying)] if varying else []
    if named and len(experiment.quantities) > 1:
        words.append(quantity_name(cell.quantity))
    return f"{', '.join(words)}: " if words else ""


def _quantity(experiment: Experiment, cell: Cell) -> str:
    return f"{quantity_name(cell.quantity)}: " if len(experiment.quantities) > 1 else ""


def readable(experiment: Experiment, parameters: Mapping[str, Any],
             chosen: Iterable[str] | None = None) -> dict[str, Any]:
    """The chosen of them (else all), large numbers of bytes as ``24 MiB``."""
    large = {p.name for p in experiment.parameters if p.unit == "bytes"}
    return {name: size(value) if name in large and isinstance(value, int) and value >= LARGE
            else value for name, value in parameters.items() if chosen is None or name in chosen}


def spelt(experiment: Experiment, name: str, value: Any) -> str:
    """One value of a parameter, as ``readable`` has it."""
    return str(readable(experiment, {name: value})[name])


def _words(experiment: Experiment, cell: Mapping[str, Any]) -> str:
    return cell_words(readable(experiment, cell))
