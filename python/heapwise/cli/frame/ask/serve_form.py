"""From the options of ``serve`` to what is measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heapwise.errors import Problem
from heapwise.options import Options, taken

if TYPE_CHECKING:
    from heapwise.catalog.recipes import Recipe
    from heapwise.runner import CompareRequest
    from heapwise.study.server.ask import ServerRequest

FEWEST_WINDOWS = 4


def server_request(compare: CompareRequest, options: Options) -> ServerRequest:
    """Problem E003 for what is missing or for windows that are too long, and those of
    ``find_recipe``."""
    from heapwise.catalog.recipes import find_recipe
    from heapwise.study.server.ask import ServerRequest
    from heapwise.study.server.lengths import LOAD_S

    _demand_windows(options.load_s or LOAD_S, options.window_s)
    if options.recipe:
        return _of_recipe(compare, find_recipe(options.recipe), options)
    if not options.ready or not options.load:
        raise Problem(
            "E003",
            f"serve needs {'--load' if options.ready else '--ready'}",
            do="heapwise serve --ready tcp:8080 --load 'oha -c 20 -z {time}s "
            "http://localhost:8080/' -- SERVER ARGS",
        )
    return taken(ServerRequest, options, compare=compare, prepare=[])


def _demand_windows(load_s: float, window_s: float) -> None:
    if window_s and load_s < FEWEST_WINDOWS * window_s:
        raise Problem(
            "E003",
            f"--window {window_s:g}s: --load-time {load_s:g}s has fewer than {FEWEST_WINDOWS} of "
            "them",
            why="Up to half of the windows are warm-up.",
            do=f"--load-time {2 * FEWEST_WINDOWS * window_s:g}s --window {window_s:g}s",
        )


def _of_recipe(compare: CompareRequest, recipe: Recipe, options: Options) -> ServerRequest:
    """What the user gave goes before what the recipe says. Its arguments follow the server's."""
    from heapwise.model import Build
    from heapwise.study.server.ask import ServerRequest

    more = [word for build in compare.builds for word in build.command]
    server = Build("", [*recipe.server, *more])
    return taken(
        ServerRequest,
        options,
        compare=replace(compare, builds=[server], force=compare.force or recipe.brings_malloc),
        ready=options.ready or recipe.ready,
        load=options.load or recipe.load,
        rates=options.rates or ([] if options.load else recipe.rates),
        prepare=recipe.prepare,
        recipe=recipe.name,
    )
