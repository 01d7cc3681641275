"""``heapwise serve``: a server under every allocator, with a load of its own."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from heapwise.cli.frame.ask.command_form import CommandWords
from heapwise.cli.frame.ask.serve_form import server_request
from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.exports import demand_exports
from heapwise.options import Options, taken


def register(app: typer.Typer) -> None:
    app.command(
        "serve",
        short_help="Measure a server under every allocator.",
        context_settings={"allow_interspersed_args": False},
    )(with_options(serve))


def serve(
    options: Options,
    server: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- SERVER [ARGS]...",
            help="The server, which stays in the foreground.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Start a server under every allocator, put it under load, and stop it.

    \b
    heapwise serve --recipe redis
    heapwise serve --ready tcp:8080 --load 'wrk -d {time}s http://localhost:8080/' -- ./server
    heapwise serve --ready tcp:{port} --rates 50%,70% \\
        --load 'oha -z {time}s -q {rate} http://localhost:{port}/' -- ./server {port}

    {port} is a port that is free, another one for each start. Without --rates, throughput is
    measured; with --rates, also latency, at the same rates for all allocators. Memory is read all
    the time.
    """
    console = Console(options.quiet, options.json)
    if options.fleet is not None:
        from heapwise.cli.frame.ask.fleet_form import measure_on_fleet

        return measure_on_fleet(options, console)
    from heapwise.cli.frame.measure import measure_or_plan
    from heapwise.cli.frame.tell.announce import announce
    from heapwise.runner import CompareRequest
    from heapwise.study.server.ask import prepare_server

    builds = CommandWords([], server).parse() if server or not options.recipe else []
    request = server_request(taken(CompareRequest, options, builds=builds), options)
    demand_exports(options.export)
    prepared = prepare_server(request, os.environ)
    announce(prepared, console)
    return measure_or_plan(prepared, options, console)
