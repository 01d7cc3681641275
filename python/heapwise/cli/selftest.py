"""``heapwise selftest``: does the laboratory find what is planted, on this machine?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from heapwise.cli.frame.ask.options import JsonOption, QuietOption, StoreOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Exit

if TYPE_CHECKING:
    from heapwise.model import Planted


def register(app: typer.Typer) -> None:
    app.command("selftest", short_help="Plant known faults, and see them found.")(selftest)


def selftest(
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Plant known faults and known effects, and see whether each is found.

    \b
    heapwise selftest
    heapwise selftest --json > selftest.json
    heapwise selftest --store /mnt/results

    It takes a minute on an idle machine. The result is kept in the store, and in each later run of
    this machine and build. Runs without one are marked unverified.
    """
    from heapwise.selftest import conduct_self_test, resolution
    from heapwise.store import check_writable, find_store, write_self_test

    console = Console(quiet, json)
    place = find_store(store)
    check_writable(place)
    console.say("Planting     faults and effects of known size; about a minute")

    def show(planted: Planted) -> None:
        if not quiet or planted.outcome in ("missed", "false alarm"):
            console.result(f"{planted.outcome:<12} {planted.check:<4} {planted.planted}")
            if planted.outcome != "found":
                console.result(f"{'':17} {planted.detail}")

    result = conduct_self_test(show)
    path = write_self_test(place, result)
    found = sum(each.outcome == "found" for each in result.planted)
    console.result(f"Found        {found} of {len(result.planted)} in {result.duration_s:.0f} s")
    shown = next((p for p in result.planted if p.planted == resolution.PLANTED), None)
    if shown is not None:
        console.result(f"Resolves     {shown.detail}")
    console.say(f"Kept         {path}: later runs of this machine and build show it")
    if json:
        console.json(result)
    return int(Exit.NOT_TRUSTWORTHY if result.failures else Exit.DONE)
