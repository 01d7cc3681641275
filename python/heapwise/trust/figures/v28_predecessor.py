"""Does a program change the one that runs after it?

A program that leaves dirty pages, a cache on the disk or heat behind slows its successor, and looks
better than it is. The order of each round is random. So the values after each subject are compared
with the values after the others, and the orders are drawn again to see what chance does.
If it warns: let --prepare bring the machine into the same state before each process, or give each
subject files of its own (--fresh-dir).
"""

from __future__ import annotations

from math import expm1

from heapwise.evidence import Evidence
from heapwise.evidence.predecessor import LEVEL, carry_over_of
from heapwise.model import Cell, Check
from heapwise.stats.claims.holm import holm
from heapwise.stats.ratios.carry_over import CarryOver
from heapwise.wording.lists import counted, listed
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import percent

ID, TITLE = "V28", "The process before did not matter"


def check(evidence: Evidence) -> Check:
    tests = {
        cell: found
        for cell in evidence.table
        if (found := carry_over_of(evidence, cell)) is not None
    }
    if not tests:
        why = "Fewer than 6 rounds of a comparison: it cannot be told from chance."
        return Check(ID, TITLE, "unavailable", why)
    adjusted = holm([found.p_value for found in tests.values()])
    certain = [
        _words(cell, found)
        for (cell, found), p in zip(tests.items(), adjusted, strict=True)
        if p <= LEVEL
    ]
    figures = {"cells": len(tests), "least_p": min(adjusted), "found": certain}
    if not certain:
        number = counted(len(tests), "quantity", "quantities")
        words = f"Values did not depend on the process before, in {number}."
        return Check(ID, TITLE, "pass", words, figures)
    words = (
        f"Values depend on the process that ran before: {listed(certain)}. A ratio of which the "
        "order explains most has no verdict."
    )
    return Check(ID, TITLE, "warn", words, figures)


def _words(cell: Cell, found: CarryOver) -> str:
    """The words of the predecessor that stands out most."""
    name, effect = max(found.after.items(), key=lambda item: abs(item[1]))
    more = "more" if effect > 0 else "less"
    return (
        f"{quantity_name(cell.quantity)} is {percent(abs(expm1(effect)))} {more} after {name} "
        "than on average"
    )
