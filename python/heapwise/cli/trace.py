"""``heapwise trace``: what is in a recording."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask.options import JsonOption, QuietOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.trace import Trace
    from heapwise.trace.exports import Export
    from heapwise.trace.named_trace import NamedTrace
    from heapwise.trace.names.wrappers import Wrappers


def register(app: typer.Typer) -> None:
    app.command("trace", short_help="Say what is in a trace.")(trace)


def trace(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A trace of heapwise record.", show_default=False)
    ],
    later: Annotated[
        str | None,
        typer.Argument(
            metavar="[LATER]", help="A second trace: show what grew in it.", show_default=False
        ),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX", help="Functions to skip as wrappers, too.", show_default=False
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Call sites to show.")] = 10,
    html: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="Write a page with figures.", show_default=False),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Write FILE.pb.gz, .speedscope.json, .dhat.json or .folded; "
            "of two traces .folded or .md.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Sizes, lifetimes, threads, hand-overs, growth, and what lived at the peak, by call site.

    FILE: a trace or a profile of "record", or a heap profile of pprof, tcmalloc or jemalloc.

    \b
    heapwise trace load.hwt
    heapwise trace load.hwt --top 30 --skip '^my_alloc'
    heapwise trace load.hwt --html load.html
    heapwise trace load.hwt --export load.pb.gz --export load.speedscope.json
    heapwise trace load.hwt --json > load.json
    heapwise trace before.hwt after.hwt --html grown.html --export grown.md
    heapwise trace before.heap after.heap              two heap profiles of jemalloc or pprof
    """
    from heapwise.trace import open_trace
    from heapwise.trace.heap_profile import is_heap_profile
    from heapwise.trace.names.wrappers import Wrappers

    console = Console(quiet, json)
    wanted = Wanted(
        file,
        Wrappers(skip or []),
        top,
        html,
        export or [],
        [(name, _exporter(name)) for name in export or []] if later is None else [],
    )
    if later is not None and not (is_heap_profile(Path(file)) and is_heap_profile(Path(later))):
        return _difference(wanted, later, console)
    if later is not None or is_heap_profile(Path(file)):
        return _foreign(wanted, later, console)
    with open_trace(Path(file)) as opened:
        return (_profile if opened.sample_every else _trace)(opened, wanted, console)


@dataclass(frozen=True)
class Wanted:
    """What the user asked for. html: the name of a page. exports: names of files. written: those of
    one trace, and what makes them."""

    file: str
    wrappers: Wrappers
    top: int
    html: str | None
    exports: list[str]
    written: list[tuple[str, Export]]


def _difference(wanted: Wanted, later: str, console: Console) -> int:
    """Problem E062 for a profile, and for a form that two traces do not have."""
    from heapwise.cli.frame.tell.fitted_lines import shown
    from heapwise.study.recording.difference_tables import difference_passages
    from heapwise.trace.trace_difference import folded_difference, trace_difference

    for name in wanted.exports:
        if not name.endswith((".folded", ".md")):
            raise Problem(
                "E003",
                f"--export {name}: two traces are written as .folded or .md",
                do="--export FILE.folded, which flamegraph.pl draws; --html PAGE for a page",
            )
    before, after = (_named(name, wanted, console) for name in (wanted.file, later))
    found = trace_difference(
        (wanted.file, later), before.sites, after.sites, (before.program, after.program)
    )
    for line in shown(difference_passages(found, wanted.top)):
        console.result(line)
    if console.as_json:
        console.json(found)
    for name in wanted.exports:
        if name.endswith(".md"):
            from heapwise.report.trace_difference_page import trace_difference_markdown

            _write(name, trace_difference_markdown(found).encode(errors="replace"))
        else:
            _write(name, folded_difference(before.stacks, after.stacks))
    if wanted.html:
        from heapwise.report.trace_difference_page import trace_difference_page

        page = trace_difference_page(found, before.stacks, after.stacks)
        _write(wanted.html, page.encode(errors="replace"))
    return 0


def _named(name: str, wanted: Wanted, console: Console) -> NamedTrace:
    from heapwise.cli.frame.tell.reading import reading
    from heapwise.trace.named_trace import read_named_trace

    with reading(name, console.quiet) as tell:
        return read_named_trace(Path(name), wanted.wrappers, tell)


def _trace(opened: Trace, wanted: Wanted, console: Console) -> int:
    from heapwise.cli.frame.tell.reading import reading
    from heapwise.cli.frame.tell.trace_text import trace_lines
    from heapwise.trace.contents import read_contents
    from heapwise.trace.names.call_stacks import call_stacks
    from heapwise.trace.names.named_sites import named_sites
    from heapwise.trace.names.symbols import Symbols

    with reading(wanted.file, console.quiet) as tell:
        contents = read_contents(opened, tell)
    symbols = Symbols(opened.modules)
    stacks = call_stacks(opened, contents, symbols)
    named = named_sites(contents, stacks, wanted.wrappers)
    for line in trace_lines(opened, contents, named, wanted.top):
        console.result(line)
    if console.as_json:
        from heapwise.trace.document import trace_document

        console.json(trace_document(opened, contents, symbols, named))
    for name, exporter in wanted.written:
        _write(name, exporter(opened, stacks))
    if wanted.html:
        from heapwise.report.trace_page import trace_page

        _write(wanted.html, trace_page(opened, contents, named, stacks).encode())
    return 0


def _profile(opened: Trace, wanted: Wanted, console: Console) -> int:
    from heapwise.cli.frame.tell.trace_text import profile_lines
    from heapwise.trace.names.symbols import Symbols
    from heapwise.trace.sampled_stacks import read_sampled_stacks

    stacks, symbols = read_sampled_stacks(opened), Symbols(opened.modules)
    for line in profile_lines(opened, stacks, symbols, wanted.wrappers, wanted.top):
        console.result(line)
    if console.as_json:
        from heapwise.trace.profile_document import profile_document

        console.json(profile_document(opened, stacks.samples, symbols))
    for name, exporter in wanted.written:
        _write(name, exporter(opened, stacks.call_stacks(symbols)))
    if wanted.html:
        from heapwise.report.profile_page import profile_page

        _write(wanted.html, profile_page(opened, stacks, symbols, wanted.wrappers).encode())
    return 0


def _foreign(wanted: Wanted, later: str | None, console: Console) -> int:
    from heapwise.cli.frame.tell.fitted_lines import shown
    from heapwise.study.recording.heap_profile_tables import heap_profile_passages
    from heapwise.trace.heap_profile import (
        heap_profile_document,
        profile_difference,
        read_heap_profile,
    )

    if wanted.html or wanted.exports:
        raise Problem(
            "E062",
            f"{wanted.file} is a heap profile of another tool: it has no page and no exports",
            why="It holds neither times nor lifetimes.",
            do="record the program with heapwise record for them",
        )
    profile = read_heap_profile(Path(wanted.file))
    if later is not None:
        profile = profile_difference(profile, read_heap_profile(Path(later)))
    for line in shown(heap_profile_passages(profile, wanted.wrappers, wanted.top)):
        console.result(line)
    if console.as_json:
        console.json(heap_profile_document(profile, wanted.wrappers))
    return 0


def _exporter(name: str) -> Export:
    from heapwise.trace.exports import EXPORTS

    for suffix in sorted(EXPORTS, key=len, reverse=True):
        if name.endswith(suffix):
            return EXPORTS[suffix]
    raise Problem(
        "E003",
        f"--export {name}: the name has to end with {', '.join(EXPORTS)}",
        do="heapwise trace --help",
    )


def _write(name: str, content: bytes) -> None:
    try:
        Path(name).write_bytes(content)
    except OSError as error:
        raise Problem("E050", f"{name} cannot be written: {error.strerror}") from error
