"""The page of servers under allocators: throughput, latencies, memory, and what can be said."""

from __future__ import annotations

from collections.abc import Mapping

from heapwise.catalog.recipes import recipe_folder
from heapwise.model import Finding, Row
from heapwise.report import View
from heapwise.report.pages.machine import machine_table, title_of
from heapwise.report.pages.markdown import table
from heapwise.wording.numbers import scale_for

CAPACITY = "capacity"
SPEED = {"throughput": "throughput", "cpu_per_request": "processor time per request"}
LATE = {"latency_p50": "p50", "latency_p90": "p90", "latency_p99": "p99", "latency_p99_9": "p99.9"}
MEMORY = {"tree_peak": "peak memory", "after_idle": "memory after idle time"}
NOT_TOLD = {
    "cannot tell": "cannot tell yet whether these differ from",
    "no difference": "no difference from",
}

INTRODUCTION = """\
Client and server ran on one machine and talked over the loopback interface. Each figure is a
median over server processes. The first line of a table is the baseline. In the other lines, the
ratio to the baseline follows the figure, with its 95 % interval in brackets; a ratio of fewer than
three rounds has no interval. The ratio is that of rounds, each compared with the baseline of the
same round, so it may differ from the ratio of the two medians. Memory is that of all processes of
the server. Allocators give free memory back at different times, so memory after idle time depends
on the length of the idle phase. The allocator `own` is the one that the server is linked with.

The lists below the tables say what the run shows: a sentence for each difference, then one line
for the allocators that do not differ, or that it cannot tell apart from the baseline."""


MEMORY_INTRODUCTION = """\
What is left after the load: memory of all processes of the server, the median over server
processes. The first line of a table is the baseline. In the other lines, the ratio to the baseline
follows the figure, with its 95 % interval in brackets. Other programs worked on the machine, so
throughput and latencies of these runs are not shown. The allocator `own` is the one that the server
is linked with."""


def page(runs: Mapping[str, View]) -> str:
    """runs: recipe -> its run. As Markdown."""
    return _document("--page FILE", "Servers", INTRODUCTION, runs, SPEED, LATE)


def memory_page(runs: Mapping[str, View]) -> str:
    """runs: recipe -> its run under its load without a rate. As Markdown."""
    return _document(
        "--memory --idle SECONDS --page FILE",
        "Memory of servers",
        MEMORY_INTRODUCTION,
        runs,
        {},
        {},
    )


def _document(
    options: str,
    title: str,
    introduction: str,
    runs: Mapping[str, View],
    speed: Mapping[str, str],
    late: Mapping[str, str],
) -> str:
    """speed, late: the quantities beside memory that are shown of the load without a rate, and of
    the others."""
    first = next(iter(runs.values()))
    lines = [
        f"<!-- Made by `python -m servers {options}`; do not edit. -->",
        "",
        f"# {title}: {title_of(first.run.machine)}",
        "",
        introduction,
        "",
    ]
    for recipe, view in runs.items():
        lines += _of_recipe(recipe, view, speed, late)
    return "\n".join([*lines, "## The machine", "", *machine_table(first), ""])


def _of_recipe(
    recipe: str,
    view: View,
    speed: Mapping[str, str],
    late: Mapping[str, str],
) -> list[str]:
    run = view.run
    lines = [
        f"## {recipe}",
        "",
        f"Run of {run.created[:10]}, {run.plan.max_rounds} rounds at most, trust: "
        f"{view.result.trust.verdict}. {_phases(view)}Server: `{_command(recipe, view)}`.",
        "",
    ]
    loads = dict.fromkeys(str(dict(row.parameters).get("load", "")) for row in view.result.rows)
    for load in loads:
        title = (
            ("maximum throughput" if speed else "memory")
            if load == CAPACITY
            else f"at {load} of the throughput of the slowest allocator{rate_of(view, load)}"
        )
        wanted = {**(speed if load == CAPACITY else late), **MEMORY}
        lines += [f"### {recipe}: {title}", "", *_figures(view, load, wanted), ""]
    told = told_of(
        [
            finding
            for finding in view.result.findings
            if finding.cell.quantity in (*speed, *late, *MEMORY)
        ]
    )
    return [*lines, *([*(f"- {sentence}" for sentence in told), ""] if told else [])]


def told_of(findings: list[Finding]) -> list[str]:
    """The sentences of what differs, then one for all that does not; for each quantity and load."""
    labels = dict.fromkeys(finding.sentence.partition(": ")[0] for finding in findings)
    told = []
    for label in labels:
        same = [finding for finding in findings if finding.sentence.startswith(f"{label}: ")]
        told += [finding.sentence for finding in same if finding.verdict not in NOT_TOLD]
        for verdict, words in NOT_TOLD.items():
            names = [finding.above for finding in same if finding.verdict == verdict]
            told += [f"{label}: {words} {same[0].below}: {', '.join(names)}."] if names else []
    return told


def rate_of(view: View, load: str) -> str:
    """What that share is: all processes of the cell have the same rate."""
    rates = {
        float(process.facts.load.intended_rate)
        for process in view.evidence.stored.processes
        if process.facts.load
        and process.facts.load.intended_rate
        and process.parameters.get("load") == load
    }
    return f", {max(rates):,.0f} requests/s" if rates else ""


def _phases(view: View) -> str:
    """How long each server worked and was idle: an allocator that gives memory back later than that
    has more than it needs."""
    options = view.run.plan.options.server
    if options is None:
        return ""
    return f"Each load took {options.load_s:g} s, and the idle phase {options.idle_s:g} s. "


def _command(recipe: str, view: View) -> str:
    """As the recipe has it: folders of the machine are of no use to a reader."""
    return " ".join(view.run.plan.command).replace(str(recipe_folder() / recipe), "{recipe}")


def _figures(view: View, load: str, wanted: Mapping[str, str]) -> list[str]:
    rows = [row for row in view.result.rows if str(dict(row.parameters).get("load", "")) == load]
    present = {
        name: title
        for name, title in wanted.items()
        if any(row.quantity == name and row.median is not None for row in rows)
    }
    if not present:
        notes = dict.fromkeys(row.note for row in rows if row.note)
        return ["Nothing was measured: " + ("; ".join(notes) or "no sample was sound") + "."]
    hidden = {subject.name for subject in view.run.plan.subjects if subject.control}
    subjects = sorted(
        {row.subject: row.baseline for row in rows if row.subject not in hidden}.items(),
        key=lambda pair: not pair[1],
    )
    lines = [[name, *(_cell(rows, name, quantity) for quantity in present)] for name, _ in subjects]
    return table(["allocator", *present.values()], lines)


def _cell(rows: list[Row], subject: str, quantity: str) -> str:
    same = [row for row in rows if row.quantity == quantity]
    found = next((row for row in same if row.subject == subject), None)
    if found is None or found.median is None:
        return "-"
    text = scale_for([row.median for row in same], found.unit).text(found.median)
    if found.baseline or found.ratio is None:
        return text
    if found.ratio_low is None or found.ratio_high is None:
        return f"{text}, {found.ratio:.3g}"
    return f"{text}, {found.ratio:.3g} ({found.ratio_low:.3g} to {found.ratio_high:.3g})"
