"""One comparison as a sentence, from the pairs of its cells, so that none outlives its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from heapwise.analysis.verdicts.gain import is_speed, quantity_of
from heapwise.analysis.verdicts.rows import (
    objections,
    objections_to_sameness,
    outcome_of,
    trouble_of_label,
)
from heapwise.analysis.verdicts.verdict import doubt, floor_of, judge, least_of
from heapwise.evidence import Evidence, comparisons_of
from heapwise.evidence.series import Series, Side
from heapwise.model import Cell, Experiment, Finding, Quantity
from heapwise.model.cell import Setting
from heapwise.stats.ratios.paired import PairedRatio
from heapwise.stats.series.center import location_interval
from heapwise.wording.names import cell_words, quantity_name
from heapwise.wording.numbers import compared, percent, scale_for, size
from heapwise.wording.ratios import SHOWN, difference_ends, difference_words, says, signed_ends

ComparisonWord = Literal["better", "worse", "no difference", "cannot tell", "not measured"]

LARGE = 1024
"""Bytes that are read more easily in KiB and MiB."""


def between(
    evidence: Evidence,
    experiment: Experiment,
    sides: tuple[Side, Side],
    names: tuple[str, str],
    where: str,
    parameter: str = "",
) -> Iterator[Finding]:
    """The first side over the second, which are called ``names``. Nothing where both are zero
    throughout."""
    (cell, _), above, below = sides[0], *names
    first, second = (evidence.table[c][name] for c, name in sides)
    quantity = quantity_of(evidence, cell)
    ratio, note = comparisons_of(evidence).ratio(*sides)
    word = _word(evidence, ratio, quantity, sides)
    figures: tuple[float | None, float | None, float | None] = (None, None, None)
    if ratio is not None:
        figures = ratio.ratio, ratio.low, ratio.high
        floor, least = floor_of(evidence, sides), least_of(evidence, sides, ratio)
        said = _said(quantity, above, below, ratio, word, note, floor, least)
    elif not any(first.values) and not any(second.values):
        return
    else:
        said = f"{above} {_count(first, quantity)}, {below} {_count(second, quantity)}"
    yield Finding(
        cell,
        above,
        below,
        *figures,
        word,
        f"{where}{said}.",
        parameter,
        ratio.p_value if ratio else 1.0,
    )


def _count(series: Series, quantity: Quantity) -> str:
    """``12.0 per million, 11.0 to 14.0``, ``never``: a side of a comparison without a ratio."""
    if not any(series.values):
        return "never"
    scale, interval = (
        scale_for(series.values, quantity.unit),
        location_interval(list(series.rounds.values())),
    )
    between = (
        ""
        if interval.low is None or interval.high is None
        else (f", {scale.ends(interval.low, interval.high)}")
    )
    return f"{scale.text(series.middle)}{between}"


def _said(
    quantity: Quantity,
    above: str,
    below: str,
    ratio: PairedRatio | None,
    word: ComparisonWord,
    note: str,
    floor: float | None,
    least: float | None,
) -> str:
    if ratio is None or ratio.low is None or ratio.high is None:
        return f"cannot tell {above} from {below} yet: {note or 'too few rounds for an interval'}"
    if word in ("better", "worse"):
        return difference(quantity, above, below, ratio.ratio, ratio.low, ratio.high)
    reach = max(ratio.high, 1 / ratio.low) - 1
    if word == "no difference":
        if reach < SHOWN:
            return f"no difference between {above} and {below}"
        within = (
            f"the noise floor of {percent(floor)}"
            if floor and reach <= floor
            else (f"{percent(reach)}")
        )
        return f"no difference between {above} and {below} beyond {within}"
    between = ", ".join(
        words for words in (signed_ends(ratio.low, ratio.high), doubt(ratio, floor, least)) if words
    )
    return f"cannot tell {above} from {below} yet: {between}"


def difference(
    quantity: Quantity, above: str, below: str, ratio: float, low: float, high: float
) -> str:
    """``soa 1.42x faster than aos, 1.40 to 1.44``, ``a 1.51x as much as b, 1.45 to 1.55``."""
    less, more = ("slower", "faster") if is_speed(quantity) else ("less", "more")
    if is_speed(quantity) and quantity.better == "lower":
        less, more = more, less
    words = difference_words(ratio, less, more)
    between = difference_ends(ratio, low, high, less, more)
    end = "" if says(words, between) else f", {between}"
    return f"{above} {compared(words, below)}{end}"


def where_words(
    evidence: Evidence,
    experiment: Experiment,
    cell: Cell,
    *,
    named: bool = True,
    without: Iterable[str] = (),
) -> str:
    """``threads 2, latency: ``, of what the experiment has several of, except for the parameters
    ``without``."""
    mine = cell.parameters
    every = [key for name, key in evidence.tried if name == experiment.id]
    varying = {
        k: v
        for k, v in mine.items()
        if k not in without and len({str(p.get(k)) for p in every}) > 1
    }
    words = [setting_words(experiment, varying)] if varying else []
    if named and _is_one_of_many(experiment, cell):
        words.append(quantity_name(cell.quantity))
    return f"{', '.join(words)}: " if words else ""


def quantity_words(experiment: Experiment, cell: Cell) -> str:
    return f"{quantity_name(cell.quantity)}: " if _is_one_of_many(experiment, cell) else ""


def _is_one_of_many(experiment: Experiment, cell: Cell) -> bool:
    """Whether a sentence has to say which quantity it is about."""
    return any(q.name != cell.quantity and not q.restates for q in experiment.quantities)


def readable(
    experiment: Experiment, parameters: Mapping[str, Setting], chosen: Iterable[str] | None = None
) -> dict[str, Setting]:
    """The chosen of them (else all), large numbers of bytes as ``24 MiB``."""
    large = {p.name for p in experiment.parameters if p.unit == "bytes"}
    return {
        name: size(value) if name in large and isinstance(value, int) and value >= LARGE else value
        for name, value in parameters.items()
        if chosen is None or name in chosen
    }


def spelt(experiment: Experiment, name: str, value: Setting) -> str:
    """One value of a parameter, as ``readable`` has it."""
    return str(readable(experiment, {name: value})[name])


def setting_words(experiment: Experiment, cell: Mapping[str, Setting]) -> str:
    return cell_words(readable(experiment, cell))


def _word(
    evidence: Evidence, ratio: PairedRatio | None, quantity: Quantity, sides: tuple[Side, Side]
) -> ComparisonWord:
    """As the verdict of a row, with the wider of the two floors. Sides of two cells are of one
    subject, or of other work, so that only their processes can be objected to."""
    for cell, name in sides:
        status, _ = outcome_of(evidence, cell.setup, [name])
        failed = status != "ok" or trouble_of_label(evidence, cell, name)
        if failed or evidence.planted(cell, name):
            return "cannot tell"
    word = judge(
        ratio, quantity.better, floor_of(evidence, sides), least_of(evidence, sides, ratio)
    )
    (cell, above), (other, below) = sides
    if cell != other:
        return word
    if objections(evidence, cell, above, below):
        return "cannot tell"
    is_doubted = objections_to_sameness(evidence, cell, above, below, word)
    return "cannot tell" if word == "no difference" and is_doubted else word
