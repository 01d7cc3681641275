"""Formulas and statements over the figures of a published report, as its file writes them.

``malloc_alloc / pool_alloc >= 2``: names of places, multiplied and divided, and a bound, which is
``>= NUMBER``, ``<= NUMBER`` or ``within LOW..HIGH``. ``spread(name)``: the scatter of the repeats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from heapwise.model import FigureKey, Formula, Statement
from heapwise.wording.suggest import did_you_mean

TERM = re.compile(r"\s*(?:(spread)\(\s*([a-z]\w*)\s*\)|([a-z]\w*))\s*")
BOUND = re.compile(r"(.+?)\s*(>=|<=|within)\s*([0-9.e+-]+?)(?:\.\.([0-9.e+-]+))?\s*")


def parse_statement(words: str, places: Mapping[str, FigureKey]) -> Statement:
    """ValueError says what is wrong with the words."""
    found = BOUND.fullmatch(words)
    if found is None or (found[2] == "within") != (found[4] is not None):
        raise ValueError(
            f"'{words}' is not FORMULA >= NUMBER, FORMULA <= NUMBER or FORMULA within LOW..HIGH"
        )
    formula, first = parse_formula(found[1], places), float(found[3])
    if found[2] == "<=":
        return Statement(words, formula, 0.0, first)
    return Statement(words, formula, first, float(found[4]) if found[4] else None)


def parse_formula(words: str, places: Mapping[str, FigureKey]) -> Formula:
    """ValueError says what is wrong with the words."""
    above: list[FigureKey] = []
    below: list[FigureKey] = []
    side, at = above, 0
    while True:
        term = TERM.match(words, at)
        if term is None:
            raise ValueError(f"'{words}': a name of a figure is missing after '{words[:at]}'")
        name = term[2] or term[3]
        if name not in places:
            raise ValueError(
                f"'{words}': no figure has the name '{name}'{did_you_mean(name, list(places))}"
            )
        side.append(replace(places[name], statistic="spread") if term[1] else places[name])
        at = term.end()
        if at == len(words):
            return Formula(tuple(above), tuple(below))
        if words[at] not in "*/":
            raise ValueError(f"'{words}': '{words[at]}' is neither * nor /")
        side, at = (above if words[at] == "*" else below), at + 1
