"""The unit of times that the user of this command chose."""

from __future__ import annotations

from contextvars import ContextVar

from heapwise.errors import Problem
from heapwise.wording.suggest import did_you_mean

UNITS = {"second": "s", "millisecond": "ms", "microsecond": "µs", "nanosecond": "ns"}
SYNONYMS = {"us": "µs", **{label: label for label in UNITS.values()}}

_chosen: ContextVar[str] = ContextVar("time_unit", default="")


def choose_time_unit(name: str) -> None:
    """For the rest of this command, in which every text is written by one process. Problem E003 for
    a word that is not a unit."""
    label = UNITS.get(name.removesuffix("s") if len(name) > 2 else name) or SYNONYMS.get(name)
    if label is None:
        raise Problem(
            "E003",
            f"--time-unit {name} is not a unit of time{did_you_mean(name, UNITS)}",
            do=f"name one of: {', '.join(UNITS)}",
        )
    _chosen.set(label)


def chosen_time_unit() -> str:
    """ "" if each column has the unit that fits its figures."""
    return _chosen.get()
