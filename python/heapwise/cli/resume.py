"""``heapwise resume``: continues a run that was stopped."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.options import (
    DryRunOption,
    JsonOption,
    QuietOption,
    StoreOption,
    StrictOption,
)
from heapwise.cli.frame.tell.console import Console, labelled
from heapwise.wording.durations import parse_duration, show_limit, typed_duration
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.model import Plan
    from heapwise.store import StoredRun


def register(app: typer.Typer) -> None:
    app.command("resume", short_help="Continue a run, or add rounds to it.")(resume)


def resume(
    id: Annotated[
        str, typer.Argument(metavar="[RUN]", autocompletion=completion.runs, help="A run's id.")
    ] = "last",
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            "-r",
            "--runs",
            min=1,
            metavar="N",
            help="Rounds in all, with those that are done.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Time in all, with the time already spent: 10m."),
    ] = None,
    strict: StrictOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    dry_run: DryRunOption = False,
) -> int:
    """Continue a run that was stopped, or add rounds to a complete one.

    \b
    heapwise resume 7f3a
    heapwise resume
    heapwise resume 7f3a --time 10m
    """
    from heapwise.cli.frame.tell import progress
    from heapwise.cli.frame.watched_campaign import conduct, show
    from heapwise.runner import resume as go_on
    from heapwise.store import check_writable, find_store, read_run
    from heapwise.store.location import RUNS
    from heapwise.study.executors import executor_of

    store_path = find_store(store)
    stored = read_run(store_path, id)
    console = Console(quiet, json)
    plan = extended(stored.run.plan, rounds, time)
    kept = sum(process.status != "interrupted" for process in stored.processes)
    console.say(
        f"Run {stored.run.id} ({stored.run.state}) has {counted(kept, 'process', 'processes')}."
    )
    if dry_run:
        if json:
            console.json(plan)
        return 0
    if stored.run.state == "complete" and (spent := _nothing_left(stored, plan, rounds, time)):
        console.say(f"The run is complete. {spent}")
        return show(stored.path, console, strict=strict).code
    if stored.run.plan.command:
        console.say(labelled("Command      ", shlex.join(stored.run.plan.command)))
    if stored.path.parent.name == RUNS:
        check_writable(stored.path.parent.parent)
    watcher = progress.choose(quiet)
    campaign = go_on(
        stored.path,
        partial(extended, rounds=rounds, time=time),
        watcher,
        executor_of(stored.run.plan),
    )
    if changed := campaign.run.plan.options.environment_changed:
        console.say(
            labelled(
                "Environment  ",
                f"changed since the run began: {', '.join(changed)}. "
                "The processes get the present values.",
            )
        )
    return conduct(campaign, watcher, console, strict=strict).code


def _nothing_left(stored: StoredRun, plan: Plan, rounds: int | None, time: str | None) -> str:
    """Why a complete run has nothing more to do under this plan, and what adds rounds; "" if it
    has."""
    if time is not None and rounds is None and stored.spent_s >= plan.time_s:
        longer = typed_duration(2 * stored.spent_s)
    elif plan != stored.run.plan:
        return ""
    elif time is None:
        return "To add rounds, give --time or --rounds."
    else:
        longer = typed_duration(2 * plan.time_s)
    return (
        f"{show_limit(stored.spent_s)} of {show_limit(plan.time_s)} are spent; --time is the time "
        f"in all, such as --time {longer}."
    )


def extended(plan: Plan, rounds: int | None, time: str | None) -> Plan:
    """The plan with more to do; everything else must stay, or the rounds would not be alike."""

    from heapwise.options.rounds import PRECISION
    from heapwise.runner.plan.compare_plan import least_rounds

    if rounds is not None:
        plan = replace(
            plan,
            min_rounds=rounds,
            max_rounds=rounds,
            options=replace(plan.options, rounds_given=True),
        )
    if time is not None:
        plan = replace(
            plan,
            time_s=parse_duration(time, "--time"),
            options=replace(plan.options, time_given=True),
        )
        if plan.traits.ends_by != "rounds":
            plan = replace(
                plan,
                max_rounds=0,
                min_rounds=least_rounds(plan.subjects),
                precision=plan.precision or PRECISION,
            )
    return plan
