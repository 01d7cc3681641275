"""``heapwise trace``: what is in a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.console import Console
from heapwise.cli.frame.options import DebugOption, JsonOption, QuietOption
from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.trace import Trace
    from heapwise.trace.exports import Export


def register(app: typer.Typer) -> None:
    app.command("trace", short_help="Say what is in a trace.")(trace)


def trace(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False)],
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Call sites to show.")] = 10,
    html: Annotated[str | None, typer.Option(
        metavar="PAGE", help="Write a page with figures.", show_default=False)] = None,
    export: Annotated[list[str] | None, typer.Option(
        metavar="FILE", help="Write FILE.pb.gz, FILE.speedscope.json or FILE.dhat.json.",
        show_default=False)] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> int:
    """Sizes, lifetimes, threads, hand-overs, peak, growth, and the call sites with most blocks.

    \b
    heapwise trace load.hwt
    heapwise trace load.hwt --top 30
    heapwise trace load.hwt --html load.html
    heapwise trace load.hwt --export load.pb.gz --export load.speedscope.json
    heapwise trace load.hwt --json > load.json
    """
    from heapwise.cli.frame.trace_text import trace_document, trace_lines
    from heapwise.report.trace_page import trace_page
    from heapwise.trace import open_trace
    from heapwise.trace.call_stacks import call_stacks
    from heapwise.trace.contents import read_contents
    from heapwise.trace.symbols import Symbols

    console = Console(quiet, json)
    written = [(name, _exporter(name)) for name in export or []]
    with open_trace(Path(file)) as opened:
        if opened.sample_every:
            if html or written:
                raise Problem("E062", f"{file} is a profile: it has no page and no exports",
                              why="Its figures are estimates from samples.",
                              do="record the program without --profile for them")
            return _profile(opened, top, console)
        contents = read_contents(opened)
        symbols = Symbols(opened.modules.maps)
        for line in trace_lines(opened, contents, symbols, top):
            console.result(line)
        if json:
            console.json(trace_document(opened, contents, symbols))
        if html or written:
            stacks = call_stacks(opened, contents, symbols)
            for name, exporter in written:
                _write(name, exporter(opened, stacks))
            if html:
                _write(html, trace_page(opened, contents, symbols, stacks).encode())
    return 0


def _profile(opened: Trace, top: int, console: Console) -> int:
    from heapwise.cli.frame.profile_text import profile_document, profile_lines
    from heapwise.trace.profile import read_samples
    from heapwise.trace.symbols import Symbols

    samples, symbols = read_samples(opened), Symbols(opened.modules.maps)
    for line in profile_lines(opened, samples, symbols, top):
        console.result(line)
    if console.as_json:
        console.json(profile_document(opened, samples, symbols))
    return 0


def _exporter(name: str) -> Export:
    from heapwise.trace.exports import EXPORTS

    for suffix, exporter in EXPORTS.items():
        if name.endswith(suffix):
            return exporter
    raise Problem("E003", f"--export {name}: the name has to end with {', '.join(EXPORTS)}",
                  do="heapwise trace --help")


def _write(name: str, content: bytes) -> None:
    try:
        Path(name).write_bytes(content)
    except OSError as error:
        raise Problem("E050", f"{name} cannot be written: {error.strerror}") from error
