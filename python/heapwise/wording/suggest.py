"""What somebody who misspelt a name probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """``; did you mean jemalloc?``, or ``; `` and ``otherwise``, or ``""`` without either.

    Case does not count. Without a name like it, its last part will do: of ``family/name`` the name
    is often all that is remembered.
    """
    near = nearest(word, known)
    if near:
        return f"; did you mean {near}?"
    return f"; {otherwise}" if otherwise else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """The known name that is most like it; ``""`` without any."""
    return next(iter(all_near(word, known, most=1)), "")


def all_near(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that are like it, the most like it first."""
    names = {name.casefold(): name for name in known}
    parts = {name.rpartition("/")[2]: name for name in reversed(names)}
    wanted = word.casefold()
    if found := difflib.get_close_matches(wanted, names, n=most):
        return [names[name] for name in found]
    last = difflib.get_close_matches(wanted.rpartition("/")[2], parts, n=most)
    return [names[parts[name]] for name in last]


LEAST_ALIKE = 0.7
SPREAD = 0.1
"""How much less alike than the nearest option another may be."""


def near_options(typed: str, options: Iterable[str], most: int = 3) -> list[str]:
    """Those that begin with what was typed, else those with its word, else those that are spelt
    much like it, the nearest first."""
    word, names = typed.lstrip("-"), sorted(set(options))
    if len(word) > 1:
        whole = [each for each in names if each.startswith(typed)]
        whole = whole or [each for each in names if word in each.lstrip("-").split("-")]
        if whole:
            return whole[:most]
    alike = {each: difflib.SequenceMatcher(None, word, each.lstrip("-")).ratio() for each in names}
    least = max(LEAST_ALIKE, max(alike.values(), default=0) - SPREAD)
    near = [each for each in names if alike[each] >= least]
    return sorted(near, key=lambda each: -alike[each])[:most]
