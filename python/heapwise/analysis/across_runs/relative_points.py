"""The figures of a run relative to those of its own baseline.

A run measures its baseline in the same rounds as the other subjects. So what changes the whole
machine from run to run, such as a busy host, is in both figures and cancels out.
"""

from __future__ import annotations

from msgspec.structs import replace

from heapwise.store import Point, RunPoints


def relative_points(run: RunPoints) -> RunPoints:
    """Without the baseline itself, and without figures that have none to be compared with."""
    found = [
        _ratio(point, base)
        for point in run.points
        if point.subject != point.baseline
        and (base := _baseline_of(run, point)) is not None
        and min(point.value, base.value) > 0
    ]
    return replace(run, points=found)


def _baseline_of(run: RunPoints, point: Point) -> Point | None:
    """The same figure of the baseline. Builds have commands of their own; experiments do not."""
    return next(
        (
            other
            for other in run.points
            if other.subject == point.baseline
            and other.quantity == point.quantity
            and other.parameters == point.parameters
            and (other.command == point.command or point.place)
        ),
        None,
    )


def _ratio(point: Point, base: Point) -> Point:
    """Another version of the baseline, or another command of it, is another ratio."""
    beside = [base.toolchain, *([base.command] if base.command != point.command else [])]
    return replace(
        point,
        unit="ratio",
        value=point.value / base.value,
        n=min(point.n, base.n),
        toolchain=f"{point.toolchain} beside {', '.join(filter(None, beside))}",
    )
