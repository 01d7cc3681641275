"""``heapwise selftest``: does the laboratory find what is planted, on this machine?"""

from __future__ import annotations

from pathlib import Path
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
    console.result(f"Calibration  {_calibration(place)}")
    console.say(f"Kept         {path}: later runs of this machine and build show it")
    if json:
        console.json(result)
    return int(Exit.NOT_TRUSTWORTHY if result.failures else Exit.DONE)


def _calibration(store: Path) -> str:
    """What comparisons of this store do with their intervals, by the runs of this machine."""
    from heapwise.evidence.earlier_runs import calibrate, scored_runs
    from heapwise.machine import read_machine
    from heapwise.stats.ratios.calibration_factor import LEAST
    from heapwise.wording.lists import counted
    from heapwise.wording.numbers import significant

    machine = read_machine()
    found = calibrate(store, machine).get("wall_time")
    if found is None:
        runs = counted(scored_runs(store, machine), "comparison")
        return f"none: {runs} of this machine in the store, and it takes {LEAST}"
    if found.factor == 1:
        return f"{found.runs} runs of this machine: intervals of time are wide enough"
    return (
        f"{found.runs} runs of this machine: intervals of time are "
        f"{significant(found.factor, 2)} times as wide"
    )
