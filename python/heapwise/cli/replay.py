"""``heapwise replay``: a recorded program's allocations under every allocator."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console
from heapwise.options import Options, taken


def register(app: typer.Typer) -> None:
    app.command("replay", short_help="Play a trace under every allocator.")(with_options(replay))


def replay(
    options: Options,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A trace of heapwise record.", show_default=False)
    ],
    schedule: Annotated[
        str | None, typer.Option(metavar="A,B", help="fast, order or paced. [fast,order]")
    ] = None,
    touch: Annotated[
        str | None, typer.Option(metavar="A,B", help="line or none: is memory written to. [line]")
    ] = None,
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
    from heapwise.cli.frame.measure import measure_or_plan
    from heapwise.cli.frame.tell.announce import announce
    from heapwise.cli.frame.tell.process_text import say_process
    from heapwise.runner import RunRequest
    from heapwise.store import costs, find_store
    from heapwise.study.replay.ask import prepare_replay

    settings = [
        f"{name}={value}" for name, value in (("schedule", schedule), ("touch", touch)) if value
    ]
    subjects = [f"malloc@{name}" for name in options.allocators]
    request = taken(RunRequest, options, settings=settings, subjects=subjects)
    prepared = prepare_replay(
        Path(file), request, os.environ, window=options.window, force=options.play_anyway
    )
    console = Console(options.quiet, options.json)
    say_process(Path(file), console)
    announce(prepared, console, costs(find_store(options.store), False))
    return measure_or_plan(prepared, options, console)
