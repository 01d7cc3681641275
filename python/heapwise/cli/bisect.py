"""``heapwise bisect``: which commit made a program slower, or take more memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console, error_line
from heapwise.errors import Exit, Problem
from heapwise.options import Options, taken
from heapwise.wording.durations import longer_duration, show_duration
from heapwise.wording.metrics import OF_COUNTS, OF_ROUNDS, TIMES, measured_by
from heapwise.wording.names import quantity_name

if TYPE_CHECKING:
    from heapwise.model.json_value import Json
    from heapwise.runner import Bisection, BisectionResult


def register(app: typer.Typer) -> None:
    app.command(
        "bisect",
        short_help="Find the commit that changed a program's speed or memory.",
        context_settings={"allow_interspersed_args": False},
    )(with_options(bisect))


def bisect(
    options: Options,
    good: Annotated[str, typer.Option(metavar="REV", help="A commit before the change.")],
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- PROGRAM [ARGS]...", help="The program in a checkout.", show_default=False
        ),
    ] = None,
    bad: Annotated[str, typer.Option(metavar="REV", help="A commit after the change.")] = "HEAD",
    metric: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"{', '.join([*OF_ROUNDS, *OF_COUNTS])}."),
    ] = "time",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what earlier stages of this search found.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the built trees when the commit is found.")
    ] = False,
) -> int:
    """Find the commit of a range that changed a metric of a program.

    \b
    heapwise bisect --good v1.2 --build-command make -- ./server --bench
    heapwise bisect --good HEAD~30 --metric memory --build-command 'make app' -- out/app --batch
    heapwise bisect --good v1.2 --metric allocations --build-command make -- ./server --bench
    heapwise bisect --good v1.2 --build-command make --dry-run -- ./server
    heapwise bisect --good v1.2 --build-command make --relink 12 -- ./server --bench

    Commits are built in git worktrees in the cache, and measured side by side with both ends. Your
    own tree is left alone. The same command goes on where an earlier one was stopped.
    """
    from heapwise.cli.frame.tell import progress
    from heapwise.runner import (
        STATE_FILE,
        Bisection,
        Checkout,
        CompareRequest,
        CountedBisection,
        Interrupted,
        Suspects,
        worktrees,
    )

    if not program:
        raise Problem(
            "E003",
            "no program was given",
            do="heapwise bisect --good REV --build-command make -- ./PROGRAM [ARGS]...",
        )
    if options.build_command is None:
        raise Problem(
            "E003",
            "no --build-command was given",
            why="Each commit is built by it.",
            do="heapwise bisect --good REV --build-command make -- ./PROGRAM [ARGS]...",
        )
    quantity = _quantity(metric)
    console = Console(options.quiet, options.json)
    layouts = options.relink or 0
    if layouts and quantity in OF_COUNTS:
        raise Problem(
            "E003",
            f"--relink is for what is timed, and {metric} is counted",
            why="A count does not depend on the places of functions.",
            do=f"heapwise bisect --good {good} --metric {metric} ... without --relink",
        )
    trees = worktrees(
        Checkout.of(Path(program[0]), options.build_command), quantity, *program, layouts=layouts
    )
    commits = trees.commits(good, bad)
    if fresh and not options.dry_run:
        (trees.folder / STATE_FILE).unlink(missing_ok=True)
    request = taken(
        CompareRequest,
        options,
        ignore_output=True,
        allow_background=True,
        side_by_side=_side_by_side(options.side_by_side, quantity, layouts),
    )
    assert options.time_s is not None
    search = (CountedBisection if quantity in OF_COUNTS else Bisection)(
        trees,
        Suspects(commits),
        program,
        quantity,
        trees.folder,
        options.time_s,
        partial(progress.choose, options.quiet),
        console.say,
        request,
    )
    console.say(f"Range    {len(commits) - 1} commits, {trees.title(commits[0])}")
    console.say(f"         to {trees.title(commits[-1])}")
    if layouts:
        console.say(f"Layouts  {layouts} of each commit, which rounds take in turn")
    if options.dry_run:
        console.say(
            f"Plan     about {search.suspects.stages_left} stages of at most "
            f"{show_duration(options.time_s)}"
        )
        if options.json:
            console.json({"commits": commits, "stages": search.suspects.stages_left})
        return 0
    try:
        outcome = search.go()
    except Interrupted:
        known = len(search.suspects.states)
        error_line(
            f"stopped by you. What is known of {known} commits is kept. The same command goes on."
        )
        return int(Exit.INTERRUPTED)
    return _show(outcome, search, console, metric, keep=keep)


def _side_by_side(asked: bool | None, quantity: str, layouts: int) -> bool | None:
    """Problem E003 if the user asked for it, and nothing that it measures is looked for."""
    if quantity in TIMES.values() and not layouts:
        return asked
    if asked:
        why = "the layouts of a commit have one path in turn" if layouts else "it measures time"
        raise Problem("E003", f"--side-by-side: {why}", do="leave --side-by-side out")
    return False


def _quantity(metric: str) -> str:
    from heapwise.model import SIDE_BY_SIDE
    from heapwise.runner.executors.program import QUANTITIES
    from heapwise.wording.suggest import did_you_mean

    known = [*(q.name for q in QUANTITIES if q.name != SIDE_BY_SIDE), *OF_COUNTS]
    names = list(dict.fromkeys([*OF_ROUNDS, *known]))
    name = measured_by(metric)
    if name not in known:
        raise Problem(
            "E003",
            f"--metric {metric}: there is no such metric{did_you_mean(metric, names)}",
            do=f"name one of: {', '.join(names)}",
        )
    return name


def _show(
    outcome: BisectionResult, search: Bisection, console: Console, metric: str, *, keep: bool
) -> int:
    trees, suspects = search.trees, search.suspects
    words = _count_words(outcome) or _ratio_words(outcome)
    if words and search.quantity != search.metric:
        words += f", {quantity_name(search.quantity)}"
    if outcome.culprit:
        console.result(f"Found    {trees.title(outcome.culprit)}")
        console.result(f"         {metric}: {words}, against its parent")
    else:
        left = len(outcome.between) - 1
        question = f"which of {left} commits it is" if left > 1 else "whether it is this commit"
        console.result(f"Cannot tell {question}: {outcome.why}{f' ({words})' if words else ''}.")
        for commit in outcome.between[1:]:
            console.result(f"         {trees.title(commit)}")
        if layouts := trees.layouts // 2:
            console.result(f"         --relink {2 * layouts} takes more layouts.")
        elif metric not in OF_COUNTS:
            time = longer_duration(search.time_s)
            console.result(f"         --time {time} measures each stage longer.")
        if metric == "time" and search.quantity == search.metric:
            console.result("         --metric cpu_time is steadier beside other work.")
    if suspects.went_back:
        console.result(
            "         The metric changed more than once. This is the last change "
            "to the level of the bad end."
        )
    if console.as_json:
        console.json(_document(outcome, search, metric))
    if not keep and outcome.culprit:
        for commit in suspects.commits:
            if (trees.folder / commit).exists():
                trees.forget(commit)
    return int(Exit.DONE if outcome.culprit else Exit.NOT_TRUSTWORTHY)


def _count_words(outcome: BisectionResult) -> str:
    from heapwise.wording.numbers import signed_count

    if outcome.counts is None:
        return ""
    before, after = outcome.counts
    return f"{after:,} instead of {before:,}, {signed_count(after - before)}, counted"


def _ratio_words(outcome: BisectionResult) -> str:
    from heapwise.wording.numbers import percent, signed
    from heapwise.wording.ratios import percent_ends, signed_ends

    ratio = outcome.ratio
    if ratio is None or ratio.low is None or ratio.high is None:
        return ""
    if ratio.low <= 1 <= ratio.high:
        return f"{signed(ratio.ratio)} (95 % CI {signed_ends(ratio.low, ratio.high)})"
    word = "more" if ratio.ratio > 1 else "less"
    return f"{percent(abs(ratio.ratio - 1))} {word} (95 % CI {percent_ends(ratio.low, ratio.high)})"


def _document(outcome: BisectionResult, search: Bisection, metric: str) -> dict[str, Json]:
    ratio = outcome.ratio
    return {
        "found": outcome.culprit or None,
        "metric": metric,
        "quantity": search.quantity,
        "why": outcome.why,
        "between": outcome.between,
        "states": search.suspects.states,
        "counts": outcome.counts,
        "layouts": search.trees.layouts // 2,
        "ratio": {"ratio": ratio.ratio, "low": ratio.low, "high": ratio.high} if ratio else None,
    }
