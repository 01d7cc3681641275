"""The options of ``compare --serve``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heapwise.cli.frame.console import Console
from heapwise.cli.frame.exports import demand_exports
from heapwise.errors import Problem
from heapwise.options import Options
from heapwise.wording.durations import parse_duration

if TYPE_CHECKING:
    from heapwise.catalog.recipes import Recipe
    from heapwise.runner import CompareRequest
    from heapwise.study.server.ask import ServerRequest


FEWEST_WINDOWS = 4


@dataclass(frozen=True)
class Times:
    """Seconds: of the load, of the idle phase after it, until a server must be ready, and of a
    window of the load; 0 if it is not cut."""

    load: float
    idle: float
    ready: float
    window: float = 0.0


def read_times(load: str, idle: str, ready: str, window: str | None = None) -> Times:
    """Problem E003 if a text is not a duration, if the load or a window has a fraction of a second,
    which generators do not take, or if the load has less than four windows."""
    seconds, each = _whole(load, "--load-time"), _whole(window, "--window") if window else 0.0
    if each and seconds < FEWEST_WINDOWS * each:
        raise Problem(
            "E003",
            f"--window {window}: --load-time {load} has fewer than {FEWEST_WINDOWS} of them",
            why="Up to half of the windows are warm-up.",
            do=f"--load-time {2 * FEWEST_WINDOWS * each:g}s --window {window}",
        )
    return Times(
        seconds, parse_duration(idle, "--idle"), parse_duration(ready, "--ready-time"), each
    )


def _whole(text: str, option: str) -> float:
    seconds = parse_duration(text, option)
    if seconds != int(seconds):
        raise Problem(
            "E003", f"{option} {text}: load generators take whole seconds", do=f"{option} 10s"
        )
    return seconds


def server_request(
    compare: CompareRequest,
    ready: str | None,
    load: str | None,
    rates: str | None,
    times: Times,
    recipe: str | None,
) -> ServerRequest:
    """Problem E003 for what is missing or is not a share, and those of ``find_recipe``."""
    from heapwise.catalog.recipes import find_recipe
    from heapwise.study.server.ask import ServerRequest

    if recipe:
        return _of_recipe(compare, find_recipe(recipe), ready, load, rates, times)
    if not ready or not load:
        raise Problem(
            "E003",
            f"--serve needs {'--load' if ready else '--ready'}",
            do="heapwise compare --serve --ready tcp:8080 --load 'oha -c 20 -z {time}s "
            "http://localhost:8080/' -- SERVER ARGS",
        )
    return ServerRequest(
        compare,
        ready,
        load,
        parse_shares(rates) if rates else (),
        times.load,
        times.window,
        times.idle,
        times.ready,
    )


def _of_recipe(
    compare: CompareRequest,
    recipe: Recipe,
    ready: str | None,
    load: str | None,
    rates: str | None,
    times: Times,
) -> ServerRequest:
    """What the user gave goes before what the recipe says. Its arguments follow the server's."""
    from heapwise.model import Build
    from heapwise.study.server.ask import ServerRequest

    more = [word for build in compare.builds for word in build.command]
    server = Build("", [*recipe.server, *more])
    asked = parse_shares(rates) if rates else [] if load else recipe.rates
    return ServerRequest(
        replace(compare, builds=[server], force=compare.force or recipe.brings_malloc),
        ready or recipe.ready,
        load or recipe.load,
        asked,
        times.load,
        times.window,
        times.idle,
        times.ready,
        prepare=recipe.prepare,
        recipe=recipe.name,
    )


def parse_shares(text: str) -> list[float]:
    """``50%,70%`` -> 0.5, 0.7. Problem E003 for text that is not a share, or is above 100 %."""
    found = []
    for word in text.split(","):
        try:
            share = float(word.strip().rstrip("%")) / 100
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            raise Problem(
                "E003",
                f"--rates {word}: it is a share above 0 %, up to 100 %",
                do="--rates 50%,70%,90%",
            )
        found.append(share)
    return found


def measure_server(request: ServerRequest, options: Options, console: Console) -> int:
    """Problems: those of ``prepare_server``, and of ``demand_exports`` before anything is
    measured."""
    from heapwise.cli.frame.announce import announce
    from heapwise.cli.frame.measure import measure
    from heapwise.study.server.ask import prepare_server

    demand_exports(options.export)
    prepared = prepare_server(request, os.environ)
    announce(prepared, console)
    if options.dry_run:
        if console.as_json:
            console.json(prepared.plan)
        return 0
    return measure(prepared, options, console).code
