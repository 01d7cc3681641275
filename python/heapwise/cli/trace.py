"""``heapwise trace``: what is in a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heapwise.cli.frame.console import Console
from heapwise.cli.frame.options import DebugOption, JsonOption, QuietOption


def register(app: typer.Typer) -> None:
    app.command("trace", short_help="Say what is in a trace.")(trace)


def trace(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False)],
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Call sites to show.")] = 10,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> int:
    """Sizes, lifetimes, threads, hand-overs, peak, growth, and the call sites with most blocks.

    \b
    heapwise trace load.hwt
    heapwise trace load.hwt --top 30
    heapwise trace load.hwt --json > load.json
    """
    from heapwise.cli.frame.trace_text import trace_document, trace_lines
    from heapwise.trace import open_trace
    from heapwise.trace.contents import read_contents
    from heapwise.trace.symbols import Symbols

    console = Console(quiet, json)
    with open_trace(Path(file)) as opened:
        contents = read_contents(opened)
        symbols = Symbols(opened.modules.maps)
        for line in trace_lines(opened, contents, symbols, top):
            console.result(line)
        if json:
            console.json(trace_document(opened, contents, symbols))
    return 0
