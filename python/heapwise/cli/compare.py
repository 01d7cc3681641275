"""``heapwise compare``: the user's program under every allocator that is installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.console import Console, error_line
from heapwise.cli.frame.options import (
    DebugOption,
    DryRunOption,
    JsonOption,
    QuietOption,
    StoreOption,
)
from heapwise.errors import Problem
from heapwise.wording.durations import parse_duration

if TYPE_CHECKING:
    from heapwise.runner import Prepared


def register(app: typer.Typer) -> None:
    app.command("compare", short_help="Run a program under every allocator.",
                context_settings={"allow_interspersed_args": False})(compare)


def compare(
    context: typer.Context,
    program: Annotated[
        list[str] | None, typer.Argument(metavar="-- PROGRAM [ARGS]...", show_default=False)
    ] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Run exactly this many rounds.")] = None,
    time: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Stop after this long: 90s, 10m. [3m]")
    ] = None,
    allocators: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these (see heapwise peers list).")
    ] = None,
    allocator: Annotated[
        list[str] | None, typer.Option(metavar="NAME=/PATH.so", help="Add a library; repeatable.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare with this one. [as it is today]")
    ] = None,
    warmup: Annotated[int, typer.Option(min=0, help="First rounds, which do not count.")] = 1,
    input: Annotated[
        str | None, typer.Option(metavar="FILE", help="Standard input of every process.")
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Kill a process after this long.")
    ] = None,
    precision: Annotated[
        float, typer.Option(help="Go on until intervals are within this, in percent.")
    ] = 1.0,
    seed: Annotated[int | None, typer.Option(help="Seed of the random order.")] = None,
    cpus: Annotated[
        str | None, typer.Option(metavar="LIST", help="Run on these processors: 0-3,6.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Measure even if malloc cannot be replaced everywhere.")
    ] = False,
    keep_env: Annotated[
        bool, typer.Option("--keep-env", help="Keep MALLOC_*, LD_* and the like.")
    ] = False,
    ignore_output: Annotated[
        bool, typer.Option("--ignore-output", help="The printed output may differ.")
    ] = False,
    output_file: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Compare this file, which it writes; repeatable."),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run this after each process; it must end with 0."),
    ] = None,
    allow_background: Annotated[
        bool, typer.Option("--allow-background", help="The program may leave children running.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    dry_run: DryRunOption = False,
    debug: DebugOption = False,
) -> int:
    """Run a program under every allocator and say what each of them buys.

    \b
    heapwise compare -- ./server --bench
    heapwise compare --time 10m --output-file big.o -- cc -O2 -c big.c -o big.o
    heapwise compare --input data.sql --json -- sqlite3 :memory: > result.json

    The baseline is the program as you run it today. Rounds go on in random order until every
    95 % interval is within the precision, or the time is up.
    """
    from heapwise.cli.frame.announce import announce
    from heapwise.runner import CompareRequest, prepare_compare

    if not program:
        raise Problem("E003", "no program was given", do="heapwise compare -- PROGRAM [ARGS]...")
    _note_options(context, program, sys.argv)
    request = CompareRequest(
        command=program, allocators=[w for w in (allocators or "").split(",") if w],
        adhoc=allocator or [], baseline=baseline or "", runs=runs,
        time_s=parse_duration(time, "--time") if time else None, precision=share(precision),
        warm_up=warmup, input_path=input,
        timeout_s=parse_duration(timeout, "--timeout") if timeout else 0.0, seed=seed,
        cpus=parse_cpus(cpus), force=force, keep_environment=keep_env, ignore_output=ignore_output,
        allow_background=allow_background, output_files=output_file or [], check=check or "",
    )
    console = Console(quiet, json)
    prepared = prepare_compare(request, os.environ)
    announce(prepared, console)
    if dry_run:
        if json:
            console.json(prepared.plan)
        return 0
    return measure(prepared, store, console)


def measure(prepared: Prepared, store: str | None, console: Console,
            export: Sequence[str] = ()) -> int:
    """Starts the run in a store that was tried before anything is measured. export: files in which
    a gate says what it found."""
    from heapwise.cli.frame import progress
    from heapwise.cli.frame.campaign import conduct
    from heapwise.runner import start
    from heapwise.store import check_writable, find_store

    store_path = find_store(store)
    check_writable(store_path)
    watcher = progress.choose(console.quiet)
    return conduct(start(prepared, store_path, sys.argv, watcher), watcher, console, export)


def _note_options(context: typer.Context, program: list[str], typed: list[str]) -> None:
    """Says it when options of this command stand where the program gets them."""
    ours = {word for option in context.command.params for word in option.opts}
    theirs = [word for word in program[1:] if word.partition("=")[0] in ours and word[0] == "-"]
    if theirs and "--" not in typed:
        error_line(f"note: {theirs[0]} stands after the program, so the program gets it. For "
                   f"heapwise: heapwise compare {theirs[0]} ... -- {program[0]}")


def share(percent: float) -> float:
    """--precision as a share. Problem E003 for what no interval can be within."""
    if not 0 < percent <= 100:
        raise Problem("E003", f"--precision {percent:g}: it is a percentage above 0, up to 100",
                      do="heapwise compare --precision 1 -- PROGRAM")
    return percent / 100


def parse_cpus(text: str | None) -> list[int]:
    from heapwise.machine import cpu_list

    if not text:
        return []
    try:
        return cpu_list(text)
    except ValueError as error:
        raise Problem("E003", f"--cpus {text} is not a list of processors", do="write 0-3,6") \
            from error
