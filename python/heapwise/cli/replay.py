"""``heapwise replay``: a recorded program's allocations under every allocator."""

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
    app.command("replay", short_help="Play a trace under every allocator.")(replay)


def replay(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A trace of heapwise record.", show_default=False)
    ],
    schedule: Annotated[
        str | None, typer.Option(metavar="A,B", help="fast, order or paced. [fast,order]")
    ] = None,
    touch: Annotated[
        str | None, typer.Option(metavar="A,B", help="line or none: is memory written to. [line]")
    ] = None,
    allocators: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these and glibc.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rounds of processes.")
    ] = None,
    time: TimeOption = None,
    seed: SeedOption = None,
    window: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Play this part of a cut trace. [its peak]"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Play it although it had more processors.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    dry_run: DryRunOption = False,
    debug: DebugOption = False,
) -> int:
    """Play the allocations of a trace to each allocator, in random order, with intervals.

    \b
    heapwise replay load.hwt
    heapwise replay load.hwt --schedule order --allocators jemalloc,mimalloc
    heapwise replay load.hwt --schedule paced --rounds 3

    fast: each thread runs freely, and waits only for blocks of others. order: all calls in the
    recorded order, which is what memory is compared by. paced: in order, with the recorded gaps.
    What a replay cannot say: how much faster the program gets. heapwise compare says that.
    """
    from heapwise.cli.frame.announce import announce
    from heapwise.cli.frame.measure import measure
    from heapwise.cli.frame.process_text import say_process
    from heapwise.runner import RunRequest
    from heapwise.store import costs, find_store
    from heapwise.study.replay.ask import prepare_replay

    settings = [
        f"{name}={value}" for name, value in (("schedule", schedule), ("touch", touch)) if value
    ]
    subjects = [f"malloc@{name}" for name in (allocators or "").split(",") if name]
    request = RunRequest(
        settings=settings,
        subjects=subjects,
        rounds=rounds,
        seed=seed,
        time_s=parse_duration(time, "--time") if time else None,
    )
    prepared = prepare_replay(Path(file), request, os.environ, window=window, force=force)
    console = Console(quiet, json)
    say_process(Path(file), console)
    announce(prepared, console, costs(find_store(store), False))
    if dry_run:
        if json:
            console.json(prepared.plan)
        return 0
    return measure(prepared, store, console).code
