"""``heapwise run``: experiments, each subject in processes of its own."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console
from heapwise.options import Options, taken


def register(app: typer.Typer) -> None:
    app.command("run")(with_options(run))


def run(
    context: typer.Context,
    options: Options,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            autocompletion=completion.experiments,
            help="Ids, families, patterns, shelf or all.",
        ),
    ] = None,
) -> int:
    """Run experiments and save every sample. Without an experiment it prints this help.

    \b
    heapwise run pool/bulk
    heapwise run shelf                        the small experiments: caches, locks, calls
    heapwise run all                          every one that is installed
    heapwise run heap --smoke --json
    heapwise run pool/concurrent --set threads=1,2 --subjects 'mutex,malloc' --time 5m
    """
    if not ids:
        typer.echo(context.get_help())
        return 0
    console = Console(options.quiet, options.json)
    if options.fleet is not None:
        from heapwise.cli.frame.ask.fleet_form import measure_on_fleet

        return measure_on_fleet(options, console)
    from heapwise.cli.frame.measure import estimated, measure_or_plan
    from heapwise.cli.frame.tell.announce import announce
    from heapwise.runner import RunRequest, prepare_run
    from heapwise.store import costs, find_store

    prepared = prepare_run(taken(RunRequest, options, patterns=ids), os.environ)
    known = costs(find_store(options.store), options.smoke)
    announce(prepared, console, known)
    return measure_or_plan(prepared, options, console, estimated(prepared, known))
