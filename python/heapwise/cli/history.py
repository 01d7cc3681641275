"""``heapwise history``: what each figure was in run after run, and where it changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask.options import JsonOption, QuietOption, StoreOption
from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.written_files import write_text
from heapwise.errors import Problem
from heapwise.wording.metrics import OF_COUNTS, measured_by
from heapwise.wording.suggest import did_you_mean

if TYPE_CHECKING:
    from heapwise.analysis.across_runs.history import MetricHistory

RARE = {
    "cpu_time",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    *OF_COUNTS,
}
"""What is shown only if it is named."""


def register(app: typer.Typer) -> None:
    app.command("history", short_help="Show figures run after run, and where they changed.")(
        history
    )


def history(
    metric: Annotated[
        str | None, typer.Argument(metavar="[METRIC]", help="Such as time, cpu_time, allocations.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="REV", help="Only this commit (or date) and later ones.")
    ] = None,
    least: Annotated[
        float, typer.Option("--least", metavar="PERCENT", help="The smallest change that counts.")
    ] = 1.0,
    changed: Annotated[bool, typer.Option("--changed", help="Only series that changed.")] = False,
    relative: Annotated[
        bool,
        typer.Option("--relative", help="Relative to the baseline that each run measured."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            help="Write a page with figures that can be zoomed.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show each figure run after run, with the commits where its level changed.

    \b
    heapwise history                       time and peak memory of every program measured here
    heapwise history time --since v1.2     one metric, from a commit on
    heapwise history allocations           calls of malloc, an exact count
    heapwise history --relative            each subject beside the baseline of the same run
    heapwise history -o history.html       the same as a page

    One run that strays is not a change: a level takes three. Where the kernel, the C library or
    the allocator changed, the runs before and after are not compared.
    """
    from heapwise.analysis.across_runs.history import series_of
    from heapwise.report.history import history_page
    from heapwise.store import find_store, read_points

    if not 0 <= least <= 100:
        raise Problem(
            "E003",
            f"--least {least:g}: it is a percentage from 0 to 100",
            do="heapwise history --least 2",
        )
    console = Console(quiet, json)
    place = find_store(store)
    wanted = measured_by(metric or "")
    runs = read_points(place)
    known = {point.quantity for run in runs for point in run.points}
    if wanted and runs and wanted not in known:
        raise Problem(
            "E003",
            f"no run has the metric '{metric}'{did_you_mean(str(metric), known)}",
            do=f"name one of: {', '.join(sorted(known))}",
        )
    found = series_of(
        runs,
        {wanted} if wanted else known - RARE,
        _time_of(since) if since else "",
        least / 100,
        relative=relative,
    )
    shown = [series for series in found if series.changes or not changed]
    if json:
        console.json(shown)
    if output is not None:
        write_text(output, history_page(shown))
        console.result(f"History: {output}")
    elif not json:
        _print(shown, console, empty=not runs)
    return 0


def _time_of(since: str) -> str:
    """When a commit was made; a date as it is. Problem E003 for anything else."""
    from datetime import datetime

    from heapwise.catalog import git

    said = (
        None
        if since.startswith("-")
        else git(Path.cwd(), "log", "-1", "--no-show-signature", "--format=%cI", since, "--")
    )
    if said:
        return said
    try:
        return datetime.fromisoformat(since).astimezone().isoformat()
    except ValueError as error:
        raise Problem(
            "E003",
            f"--since {since} is neither a commit of this folder nor a date",
            do="heapwise history --since HEAD~20, or --since 2026-01-31",
        ) from error


def _print(shown: list[MetricHistory], console: Console, *, empty: bool) -> None:
    from heapwise.analysis.across_runs.history_lines import (
        change_line,
        seam_line,
        series_line,
        short_series_line,
        title_of,
    )

    title = ""
    for series in shown:
        head = title_of(series)
        if head != title:
            console.result(("\n" if title else "") + head)
            title = head
        console.result(series_line(series))
        for change in series.changes:
            console.result(f"    {change_line(series, change)}")
        for seam in series.seams:
            console.result(f"    {seam_line(series, seam)}")
    if shown and (short := short_series_line(shown)):
        console.result(f"\n{short}")
    if empty:
        console.result("The store has no complete run: heapwise compare -- PROGRAM")
    elif not shown:
        console.result("No series: nothing that was asked for was measured, or nothing changed.")
