"""The heaps: throughput by workload, scaling, overhead; and speed against memory row by row."""

from __future__ import annotations

from dataclasses import replace

from heapwise.analysis.speed_memory import SpeedMemory, row_map
from heapwise.analysis.verdicts.gain import is_main, main_rows
from heapwise.document import Folded, Heading, Passage, Plot, with_content
from heapwise.figures import panels, tradeoff
from heapwise.figures.panels import Panel
from heapwise.model import Quantity, Row, short_name
from heapwise.report.sections.experiments import scaling_plot
from heapwise.report.view import Group, View
from heapwise.wording.names import quantity_name, spaced
from heapwise.wording.numbers import TIME_UNITS, scale_for

TITLE, ORDER = "Heaps", 22

FAMILY = "heap"
SCALED = "heap/rl_small"
THROUGHPUT, OVERHEAD = "throughput", "overhead_ratio"


def tell(view: View) -> list[Passage]:
    if view.run.plan.smoke:
        return []
    groups = [g for g in view.groups if g.experiment.family == FAMILY]
    maps = _maps(view)
    title = f"Speed against memory, row by row: {len(maps)} maps"
    figures = [*_by_workload(view, groups), *_scaling(view, groups)]
    return with_content([*figures, Folded(title, maps)])


def _by_workload(view: View, groups: list[Group]) -> list[Plot]:
    """Throughput with the fewest and the most threads, mean times, and the overhead."""
    speeds = [g for g in groups if g.quantity == THROUGHPUT]
    times = [g for g in groups if g.unit in TIME_UNITS and is_main(_quantity(g))]
    overhead = [g for g in groups if g.quantity == OVERHEAD]
    contended = [g for g in _one_each(speeds, most=True) if g.parameters.get("threads", 1) != 1]
    by_threads = {
        f"Throughput by workload, {threads} threads": [
            g for g in contended if g.parameters["threads"] == threads
        ]
        for threads in dict.fromkeys(g.parameters["threads"] for g in contended)
    }
    figures = {
        "Throughput by workload": (_one_each(speeds), "slower", "faster"),
        **{title: (picked, "slower", "faster") for title, picked in by_threads.items()},
        "Mean times by experiment": (_one_each(times), "faster", "slower"),
        "Overhead by workload: usable over requested bytes": (
            _one_each(overhead),
            "tighter",
            "more given than asked for",
        ),
    }
    return [_panels(view, title, *figure) for title, figure in figures.items()]


def _quantity(group: Group) -> Quantity:
    return next(q for q in group.experiment.quantities if q.name == group.quantity)


def _one_each(groups: list[Group], *, most: bool = False) -> list[Group]:
    """For each experiment and quantity its first or last cell."""
    found: dict[tuple[str, str], Group] = {}
    for group in groups:
        key = group.experiment.id, group.quantity
        if most or key not in found:
            found[key] = group
    return list(found.values())


def _panels(view: View, title: str, groups: list[Group], left: str, right: str) -> Plot:
    several = len({g.quantity for g in groups}) > 1
    drawn = [
        Panel(_title(g, several), _rows(view, g.rows), scale_for([r.min for r in g.rows], g.unit))
        for g in groups
    ]
    present = {row.subject for panel in drawn for row in panel.rows}
    subjects = [name for name in map(short_name, view.evidence.subjects) if name in present]
    figure = panels.draw(drawn, subjects, title, left=left, right=right)
    caption = (
        f"{title}{_threads(groups)}: medians with 95 % intervals, every sample as a faint "
        "dot. Each panel has an axis of its own."
    )
    return Plot(figure, caption)


def _title(group: Group, with_quantity: bool) -> str:
    name = spaced(group.experiment.id.rpartition("/")[2])
    return f"{name}: {quantity_name(group.quantity)}" if with_quantity else name


def _rows(view: View, rows: list[Row]) -> list[Row]:
    """Without controls, under their short names."""
    return [replace(row, subject=short_name(row.subject)) for row in view.ranked(rows)]


def _threads(groups: list[Group]) -> str:
    fewest = {g.parameters["threads"] for g in groups if "threads" in g.parameters}
    return ", one thread" if fewest == {1} else ""


def _scaling(view: View, groups: list[Group]) -> list[Plot]:
    scaled = [g for g in groups if (g.experiment.id, g.quantity) == (SCALED, THROUGHPUT)]
    rows = _rows(view, [row for g in scaled for row in g.rows if "threads" in row.parameters])
    if len({row.parameters["threads"] for row in rows}) < 2:
        return []
    title = f"Scaling: throughput of {SCALED} over threads"
    return [scaling_plot(scaled[0].experiment, rows, "threads", title)]


def _maps(view: View) -> list[Passage]:
    """Speed against memory in each row where both were measured."""
    found: list[Passage] = []
    groups = {group.cell: group for group in view.groups}
    for group in (groups[cell] for cell in main_rows(view.evidence, FAMILY) if cell in groups):
        experiment = group.experiment
        one = row_map(view.evidence, group.cell, experiment.baseline)
        if len(one.spots) > 1:
            title = group.title(view.varying(experiment))
            found += [Heading(f"{experiment.id}: {title}"), Plot(picture(one))]
    return found


def picture(found: SpeedMemory) -> str:
    """Speed to the right, memory upwards: the best are at the right below."""
    points = [
        tradeoff.TradeoffPoint(short_name(s.subject), s.speed, s.memory, s.baseline, s.control)
        for s in found.spots
    ]
    return tradeoff.draw(points, words=tradeoff.SPEED)


def caption(found: SpeedMemory) -> str:
    """What the points of a map over many rows are, and which subjects have none."""
    experiments = len({cell.experiment for cell in found.rows})
    words = (
        f"Speed against peak memory, relative to {found.baseline}: geometric means over "
        f"{len(found.rows)} rows of {experiments} experiments (throughputs and mean times; "
        "peak resident memory; rows of less than 1 MiB left out), with 95 % intervals. Down "
        "and right is better; the ring is the baseline, the grey cross the baseline "
        "measured a second time."
    )
    left_out = "; ".join(f"{name} ({why})" for name, why in found.left_out.items())
    return f"{words} Without a point: {left_out}." if left_out else words
