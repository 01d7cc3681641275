"""Which cells of an experiment lie on lines over a number, above all over the number of threads."""

from __future__ import annotations

from heapwise.report.view import Group

THREADS = "threads"
MOST_SETTINGS = 8
"""This many settings of the other parameters get a figure each; more of them are tables."""

LineSetting = tuple[tuple[str, object], ...]


def axis_of(groups: list[Group], varying: list[str]) -> str | None:
    """The parameter that lines go over: the only one that varies, or the number of threads."""
    names = varying if len(varying) == 1 else [name for name in varying if name == THREADS]
    for name in names:
        if all(isinstance(group.parameters.get(name), int | float) for group in groups):
            return name
    return None


def by_setting(
    groups: list[Group], varying: list[str], axis: str
) -> dict[LineSetting, list[Group]]:
    """The groups of each setting of the other parameters; empty if there are too many."""
    found: dict[LineSetting, list[Group]] = {}
    for group in groups:
        others = tuple((n, group.parameters.get(n)) for n in varying if n != axis)
        found.setdefault(others, []).append(group)
    return found if len(found) <= MOST_SETTINGS else {}
