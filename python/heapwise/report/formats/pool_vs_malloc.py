"""The form of the report pool-vs-malloc: comment lines, a tab-separated table, headline lines."""

from __future__ import annotations

from collections.abc import Iterable

from heapwise.model import Row
from heapwise.report.view import View

NAME, SUFFIX, MIME = "pool-vs-malloc", "tsv", "text/tab-separated-values"
ABOUT = "the tab-separated table of the report pool-vs-malloc, with its comment and headline lines"

FIGURES = ("min", "median", "mean", "max", "stddev")


def write(view: View) -> str:
    result = view.result
    units = list(dict.fromkeys(row.unit for row in result.rows))
    lines = _head(view)
    for unit in units:
        names = [f"{name}_{unit}" for name in FIGURES]
        lines.append("\t".join(["scenario", "allocator", "region", *names]))
        for group in view.groups:
            if group.unit == unit:
                varying = view.varying(group.experiment)
                lines += [_line(row, varying) for row in group.rows if row.median is not None]
    return "\n".join([*lines, *(f"# headline: {line}" for line in result.headlines)]) + "\n"


def _head(view: View) -> list[str]:
    run = view.run
    compilers = {build.compiler for build in view.builds}
    parameters = {name: None for e in run.experiments for name in (p.name for p in e.parameters)}
    config = [f"{name}={_values(view, name)}" for name in parameters]
    repeats = sorted({e.repeats for e in run.experiments})
    dropped = sorted({e.dropped_repeats for e in run.experiments})
    return [
        f"# heapwise {run.version} run {run.id}, {run.created}",
        "# methodology: first repeats dropped as warm-up, n, min, median, mean, max and standard "
        "deviation over all kept repeats",
        f"# compiler: {', '.join(sorted(compilers)) or 'unknown'}",
        f"# hardware_concurrency: {run.machine.cores}",
        f"# cpu: {run.machine.cpu}",
        f"# os: {run.machine.distribution}, {run.machine.kernel}, {run.machine.libc}",
        f"# config: {' '.join(config)} repeats={_list(repeats)} dropped={_list(dropped)}",
    ]


def _values(view: View, name: str) -> str:
    return _list(
        sorted({settings[name] for _, settings in view.evidence.tried if name in settings}, key=str)
    )


def _list(values: Iterable[object]) -> str:
    return ",".join(str(value) for value in values)


def _line(row: Row, varying: list[str]) -> str:
    cell = "".join(f" {name}={row.parameters[name]}" for name in varying if name in row.parameters)
    figures = ["" if (v := getattr(row, name)) is None else f"{v:.3f}" for name in FIGURES]
    scenario = row.experiment.rpartition("/")[2] + cell
    return "\t".join([scenario, row.subject, row.quantity, *figures])
