"""Formulas and statements over the figures of a published report, as its file writes them.

``malloc_alloc / pool_alloc >= 1``: names of places, multiplied and divided, and a bound, which is
``>= NUMBER``, ``<= NUMBER``, ``within LOW..HIGH``, ``about NUMBER`` or ``level``. ``spread(name)``:
the scatter of the repeats; ``peak(name)``: the largest of them; ``published(name)``: the figure
that the report printed; ``processor_time(name)``: processor time instead of the figure's quantity.
Where that is a rate, processor time is its inverse, and takes the other side of the fraction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from math import prod

from heapwise.model import ABOUT, LEVEL, PROCESSOR_TIME, FigureKey, Formula, Statement, Statistic
from heapwise.wording.suggest import did_you_mean

PrintedFigures = Mapping[str, Mapping[str, float]]
"""Machine of the report -> name of a place -> the published figure in the unit of ours."""

TERM = re.compile(
    r"\s*(?:(spread|peak|published|processor_time)\(\s*([a-z]\w*)\s*\)|([a-z]\w*))\s*"
)
BOUND = re.compile(
    r"(.+?)\s*(?:(>=|<=|within|about)\s*([0-9.e+-]+?)(?:\.\.([0-9.e+-]+))?|(level))\s*"
)
FORMS = (
    "FORMULA >= NUMBER, FORMULA <= NUMBER, FORMULA within LOW..HIGH, FORMULA about NUMBER "
    "or FORMULA level"
)
REPEATS: dict[str, Statistic] = {"spread": "spread", "peak": "peak"}


def parse_statement(
    words: str,
    places: Mapping[str, FigureKey],
    printed: PrintedFigures | None = None,
    rates: Collection[str] = (),
) -> Statement:
    """rates: names of the figures that are a number per second. ValueError says what is wrong with
    the words."""
    found = BOUND.fullmatch(words)
    if found is None or (found[2] == "within") != (found[4] is not None):
        raise ValueError(f"'{words}' is not {FORMS}")
    printed = printed or {}
    formula = parse_formula(found[1], places, printed, rates)
    published = _published(found[1], formula, printed)
    if found[5]:
        return Statement(words, formula, 1 / LEVEL, LEVEL, published)
    first = float(found[3])
    if found[2] == "about":
        return _about(words, formula, first, published)
    if found[2] == "within":
        return Statement(words, formula, first, float(found[4]), published)
    size = _around(published) if len(formula.places) > 1 else None
    no_effect = (1 / LEVEL, LEVEL) if size and first == 1 else None
    if found[2] == "<=":
        return Statement(words, formula, 0.0, first, published, size, no_effect)
    return Statement(words, formula, first, None, published, size, no_effect)


def parse_formula(
    words: str,
    places: Mapping[str, FigureKey],
    printed: PrintedFigures | None = None,
    rates: Collection[str] = (),
) -> Formula:
    """rates: as of ``parse_statement``. ValueError says what is wrong with the words."""
    above: list[FigureKey] = []
    below: list[FigureKey] = []
    factor = 1.0
    for is_below, function, name in _terms(words):
        if name not in places:
            raise ValueError(
                f"'{words}': no figure has the name '{name}'{did_you_mean(name, list(places))}"
            )
        if function == "published":
            value = _first(name, printed or {})
            if value is None:
                raise ValueError(f"'{words}': the report does not print the figure '{name}'")
            factor = factor / value if is_below else factor * value
            continue
        is_inverse = function == PROCESSOR_TIME and name in rates
        (below if is_below != is_inverse else above).append(_place(places[name], function))
    if not above:
        raise ValueError(f"'{words}': it needs a figure of ours that is not a divisor")
    return Formula(tuple(above), tuple(below), factor)


def _place(place: FigureKey, function: str) -> FigureKey:
    if function == PROCESSOR_TIME:
        return replace(place, quantity=PROCESSOR_TIME)
    return replace(place, statistic=REPEATS[function]) if function else place


def _terms(words: str) -> list[tuple[bool, str, str]]:
    """For each term whether it divides, its function or "", and its name."""
    found = []
    is_below, at = False, 0
    while True:
        term = TERM.match(words, at)
        if term is None:
            raise ValueError(f"'{words}': a name of a figure is missing after '{words[:at]}'")
        found.append((is_below, term[1] or "", term[2] or term[3]))
        at = term.end()
        if at == len(words):
            return found
        if words[at] not in "*/":
            raise ValueError(f"'{words}': '{words[at]}' is neither * nor /")
        is_below, at = words[at] == "/", at + 1


def _published(words: str, formula: Formula, printed: PrintedFigures) -> tuple[float, ...]:
    """The ratio of the printed figures, of each machine that has all of them. A statement about a
    single figure, about the repeats or about a published figure has none."""
    terms = _terms(words)
    is_plain = all(function in ("", PROCESSOR_TIME) for _, function, _ in terms)
    if len(formula.places) < 2 or not is_plain:
        return ()
    names = {name for _, _, name in terms}
    return tuple(
        prod(1 / figures[name] if is_below else figures[name] for is_below, _, name in terms)
        for figures in printed.values()
        if names <= figures.keys() and all(figures[name] > 0 for name in names)
    )


def _first(name: str, printed: PrintedFigures) -> float | None:
    return next((figures[name] for figures in printed.values() if name in figures), None)


def _about(words: str, formula: Formula, number: float, published: tuple[float, ...]) -> Statement:
    """About N times as much: the first verdict is that it is more, the second that it is about
    N. A ratio below N / ABOUT is no such effect."""
    if len(formula.places) < 2 or number <= 0 or number == 1:
        raise ValueError(f"'{words}': about is for a ratio, and its number is above 0 and not 1")
    size = (number / ABOUT, number * ABOUT)
    if number > 1:
        no_effect = (0.0, max(size[0], LEVEL))
        return Statement(words, formula, 1.0, None, published, size, no_effect)
    return Statement(words, formula, 0.0, 1.0, published, size, (min(size[1], 1 / LEVEL), None))


def _around(published: tuple[float, ...]) -> tuple[float, float] | None:
    return (min(published) / ABOUT, max(published) * ABOUT) if published else None
