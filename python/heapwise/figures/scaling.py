"""Scaling: how a quantity changes with one parameter, for instance the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heapwise.figures import curves
from heapwise.model import Row, setting_order


def draw(
    rows: list[Row],
    parameter: str,
    title: str,
    show: Callable[[float], str],
    spell: Callable[[Any], str] = str,
) -> str:
    """Rows that differ in the subject and in ``parameter`` only; intervals and raw points shown.

    show: a figure with its unit. spell: a value of the parameter.
    """
    values = sorted({row.parameters[parameter] for row in rows}, key=setting_order)
    found: dict[str, curves.Curve] = {}
    for row in sorted(rows, key=lambda r: values.index(r.parameters[parameter])):
        if row.median and row.median > 0:
            knot = curves.Knot(
                values.index(row.parameters[parameter]),
                row.median,
                row.ci_low,
                row.ci_high,
                tuple(v for v in row.values if v > 0),
            )
            found.setdefault(row.subject, curves.Curve(row.subject)).knots.append(knot)
    slots = [spell(value) for value in values]
    return curves.draw(list(found.values()), slots, title, parameter, show, "scaling")
