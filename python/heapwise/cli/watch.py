"""``heapwise watch``: the memory of a process that runs already."""

from __future__ import annotations

from typing import Annotated

import typer

from heapwise.cli.frame.ask.options import JsonOption, QuietOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Problem
from heapwise.wording.durations import parse_duration, show_duration


def register(app: typer.Typer) -> None:
    app.command("watch", short_help="Watch the memory of a process that runs already.")(watch)


def watch(
    pid: Annotated[
        int, typer.Argument(metavar="PID", min=1, help="A process.", show_default=False)
    ],
    time: Annotated[
        str, typer.Option("--time", metavar="DURATION", help="For this long: 90s, 10m.")
    ] = "60s",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Watch the memory of a process and its descendants, and say whether it grows.

    \b
    heapwise watch 4711
    heapwise watch 4711 --time 10m
    heapwise watch 4711 --time 1h --json

    Nothing else is measured, and nothing is stored. Ctrl-C ends it earlier and keeps what was
    seen.
    """
    import msgspec

    from heapwise.analysis.memory_over_time import KIB, growth_of
    from heapwise.runner import watch_memory
    from heapwise.runner.process.stop_switch import StopSwitch
    from heapwise.wording.growth import growth_words
    from heapwise.wording.numbers import show

    console = Console(quiet, json)
    seconds = parse_duration(time, "--time")
    console.say(
        f"Watching process {pid} for {show_duration(seconds)}; Ctrl-C ends it earlier and "
        "keeps what was seen"
    )
    with StopSwitch() as stop:
        facts = watch_memory(pid, seconds, stop)
    curve = facts.memory
    if curve is None:
        raise Problem("E011", f"process {pid}: it ended before it was looked at")
    found = growth_of([curve])
    if console.as_json:
        console.json(
            {
                "pid": pid,
                "seconds": facts.wall_s,
                "memory": msgspec.to_builtins(curve),
                "growth": found,
            }
        )
        return 0
    words = (
        "too short to tell"
        if found is None
        else growth_words(found.trend, found.per_hour, found.low, found.high)
    )
    console.result(
        f"Memory   most {show(curve.peak_kib * KIB, 'bytes')}, mean "
        f"{show(curve.mean_kib * KIB, 'bytes')}, last "
        f"{show(curve.last_kib * KIB, 'bytes')}, of all its processes, in "
        f"{curve.looks:,} looks over {facts.wall_s or 0:.0f} s"
    )
    console.result(f"Growth   {words} (second half, 95 % interval)")
    console.result(
        "Not seen speed, and which allocator it has: heapwise did not start it. Nothing is stored."
    )
    return 0
