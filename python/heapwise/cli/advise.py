"""``heapwise advise``: which call sites of a program would gain from a pool or an arena."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask.signature import with_options
from heapwise.cli.frame.tell.console import Console
from heapwise.options import Options, taken

if TYPE_CHECKING:
    from heapwise.study.replay.ask import NothingToPool


def register(app: typer.Typer) -> None:
    app.command("advise", short_help="Find call sites that gain from a pool or an arena.")(
        with_options(advise)
    )


def advise(
    options: Options,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A trace of heapwise record.", show_default=False)
    ],
) -> int:
    """Say which call sites of a trace would gain from a pool or an arena, as measured.

    \b
    heapwise advise load.hwt
    heapwise advise load.hwt --time 5m
    heapwise advise load.hwt --rounds 20 --json

    Candidates are call sites with many blocks. For each, the trace is played with the blocks of
    that site from a pool or an arena and all other calls unchanged, beside the trace as it is, in
    random order. The gain is the difference, with its interval: in processor time if the program
    has one thread, else in wall time. It is of the calls, the first writes and a last look.
    """
    from heapwise.cli.frame.measure import measure_or_plan
    from heapwise.cli.frame.tell.announce import announce
    from heapwise.cli.frame.tell.process_text import say_process
    from heapwise.cli.frame.tell.reading import reading
    from heapwise.runner import RunRequest
    from heapwise.store import costs, find_store
    from heapwise.study.replay.ask import NothingToPool, prepare_advice

    request = taken(RunRequest, options)
    with reading(file, options.quiet) as tell:
        prepared = prepare_advice(
            Path(file),
            request,
            os.environ,
            window=options.window,
            force=options.play_anyway,
            tell=tell,
        )
    console = Console(options.quiet, options.json)
    say_process(Path(file), console)
    _say_builds(Path(file), console)
    if isinstance(prepared, NothingToPool):
        return _say_nothing_to_gain(prepared, console)
    announce(prepared, console, costs(find_store(options.store), False))
    return measure_or_plan(prepared, options, console)


def _say_builds(trace: Path, console: Console) -> None:
    from heapwise.cli.frame.tell.fitted_lines import shown
    from heapwise.study.recording.tell import builds
    from heapwise.trace import open_trace

    with open_trace(trace) as opened:
        for line in shown(builds(opened)):
            console.say(line)


def _say_nothing_to_gain(found: NothingToPool, console: Console) -> int:
    from heapwise.analysis import NOTHING_COULD

    if console.as_json:
        console.json(
            {"trace": str(found.trace), "advice": NOTHING_COULD, "headlines": found.refused}
        )
    console.result(f"Advice   {NOTHING_COULD}")
    for line in found.refused:
        console.result(f"         {line}")
    return 0
