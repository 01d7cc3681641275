"""``heapwise advise``: which call sites of a recorded program would gain from a pool."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from heapwise.cli.frame.console import Console
from heapwise.cli.frame.options import (
    DebugOption,
    DryRunOption,
    JsonOption,
    QuietOption,
    SeedOption,
    StoreOption,
    TimeOption,
)
from heapwise.wording.durations import parse_duration


def register(app: typer.Typer) -> None:
    app.command("advise", short_help="Find call sites that gain from a pool.")(advise)


def advise(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False)],
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds of processes.")] = None,
    time: TimeOption = None,
    seed: SeedOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Play it although it had more processors.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    dry_run: DryRunOption = False,
    debug: DebugOption = False,
) -> int:
    """Say which call sites of a trace would gain from a pool, and how much, as measured.

    \b
    heapwise advise load.hwt
    heapwise advise load.hwt --time 5m
    heapwise advise load.hwt --rounds 20 --json

    Candidates are the call sites with many blocks of one size. For each, the trace is played with
    the blocks of that site from a pool and all other calls unchanged, beside the trace as it is, in
    random order. The gain is the difference, with its interval. It is of the calls and the first
    writes; what the program does with its blocks later is not played.
    """
    from heapwise.cli.compare import measure
    from heapwise.cli.frame.announce import announce
    from heapwise.runner import RunRequest
    from heapwise.runner.replay_plan import prepare_advice
    from heapwise.store import costs, find_store

    request = RunRequest(rounds=rounds, seed=seed,
                         time_s=parse_duration(time, "--time") if time else None)
    prepared = prepare_advice(Path(file), request, os.environ, force=force)
    console = Console(quiet, json)
    announce(prepared, console, costs(find_store(store), False))
    if dry_run:
        if json:
            console.json(prepared.plan)
        return 0
    return measure(prepared, store, console)
