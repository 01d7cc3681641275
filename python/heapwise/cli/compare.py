"""``heapwise compare``: programs side by side, or one program under every allocator."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.command_form import (
    TAIL,
    CompareCommand,
    parse_exits,
    parse_parameters,
)
from heapwise.cli.frame.command_form import Commands as CommandWords
from heapwise.cli.frame.console import Console
from heapwise.cli.frame.exports import demand_exports
from heapwise.cli.frame.options import (
    DebugOption,
    DryRunOption,
    JsonOption,
    QuietOption,
    StoreOption,
    StrictOption,
)
from heapwise.errors import Problem
from heapwise.wording.durations import parse_duration

if TYPE_CHECKING:
    from heapwise.runner import Prepared


def register(app: typer.Typer) -> None:
    app.command("compare", cls=CompareCommand,
                short_help="Run programs side by side, or one under every allocator.",
                options_metavar="[OPTIONS]")(compare)


Words = list[str] | None


def compare(
    context: typer.Context,
    commands: Annotated[
        Words, typer.Argument(metavar="COMMAND... | -- PROGRAM ARGS", show_default=False)
    ] = None,
    build: Annotated[
        Words, typer.Option(metavar="NAME=COMMAND", help="A program to compare; repeatable. Words "
                            "after -- are arguments of each.")
    ] = None,
    command_name: Annotated[
        Words, typer.Option("--command-name", "-n", metavar="NAME",
                            help="The name of a command; once for each.")
    ] = None,
    parameter: Annotated[
        Words, typer.Option("--parameter", "-L", "--parameter-list", metavar="NAME=V1,V2",
                            help="Values of {NAME} in the commands; repeatable. {round} is the "
                            "number of the round.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", "-r", "--runs", min=1, metavar="N",
                                 help="Measure exactly this many rounds.")
    ] = None,
    min_rounds: Annotated[
        int | None, typer.Option("--min-rounds", "-m", "--min-runs", min=1, metavar="N",
                                 help="Measure at least this many rounds.")
    ] = None,
    max_rounds: Annotated[
        int | None, typer.Option("--max-rounds", "-M", "--max-runs", min=1, metavar="N",
                                 help="Measure at most this many rounds.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Stop after this long: 90s, 10m. [3m]")
    ] = None,
    warmup: Annotated[
        int, typer.Option("--warmup", "-w", min=0, metavar="N",
                          help="First rounds, which do not count.")
    ] = 1,
    prepare: Annotated[
        Words, typer.Option("--prepare", "-p", metavar="COMMAND",
                            help="Run this before each process, untimed; once, or once for each "
                            "command.")
    ] = None,
    setup: Annotated[
        Words, typer.Option("--setup", "-s", metavar="COMMAND",
                            help="Run this once before the first round.")
    ] = None,
    cleanup: Annotated[
        Words, typer.Option("--cleanup", "-c", metavar="COMMAND",
                            help="Run this once after the last round.")
    ] = None,
    ignore_failure: Annotated[
        bool, typer.Option("--ignore-failure", "-i", help="Any exit code is allowed.")
    ] = False,
    ignore_exit: Annotated[
        str | None, typer.Option(metavar="LIST", help="These exit codes are allowed: 1,2.")
    ] = None,
    shell: Annotated[
        bool, typer.Option("--shell/--no-shell", " /-N",
                           help="Start each command by /bin/sh, whose time is measured too.")
    ] = False,
    fresh_dir: Annotated[
        bool, typer.Option("--fresh-dir", help="Run each process in a new, empty folder.")
    ] = False,
    show_output: Annotated[
        bool, typer.Option("--show-output", help="Print the output of each process on stderr.")
    ] = False,
    allocators: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these (see heapwise peers list), or "
                                 "all. Several programs keep their malloc without it.")
    ] = None,
    allocator: Annotated[
        Words, typer.Option(metavar="NAME=/PATH.so", help="Add a library; repeatable.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare with this row. [the first]")
    ] = None,
    input: Annotated[
        str | None, typer.Option(metavar="FILE", help="Standard input of every process.")
    ] = None,
    output_file: Annotated[
        Words, typer.Option(metavar="FILE", help="Compare this file, which it writes; repeatable."),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run this after each process; it must end with 0."),
    ] = None,
    ignore_output: Annotated[
        bool, typer.Option("--ignore-output", help="The printed output may differ.")
    ] = False,
    allow_background: Annotated[
        bool, typer.Option("--allow-background", help="The program may leave children running.")
    ] = False,
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
    strict: StrictOption = False,
    export: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Write the result to this file too: "
                                        ".json, .csv, .md or .html; repeatable.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    dry_run: DryRunOption = False,
    debug: DebugOption = False,
) -> int:
    """Compare programs, or one program under every allocator: time, memory, and what is certain.

    \b
    heapwise compare './old --bench' './new --bench'
    heapwise compare --build old=./a --build new=./b -- --bench
    heapwise compare -L threads 1,2,4 './old {threads}' './new {threads}'
    heapwise compare -- ./server --bench               under every allocator
    heapwise compare --output-file big.o -- cc -O2 -c big.c -o big.o

    Each word before -- is a command line; the words after -- are one program with its arguments.
    The first command is the baseline, and of one program the malloc that it has today. Rounds go
    on in random order until every 95 % interval is within the precision, or the time is up.
    Ctrl-C keeps what is known by then.
    """
    from heapwise.cli.frame.announce import announce
    from heapwise.runner import CompareRequest, prepare_compare

    if min_rounds and max_rounds and min_rounds > max_rounds:
        raise Problem("E003", f"--min-rounds {min_rounds} is more than --max-rounds {max_rounds}",
                      do="heapwise compare -m 10 -M 50 -- PROGRAM")
    words = CommandWords(
        commands or [], context.meta.get(TAIL), build or [], command_name or [], shell,
        prepare or [], setup or [], cleanup or [])
    request = CompareRequest(
        builds=words.parse(), parameters=parse_parameters(parameter or []),
        allocators=[w for w in (allocators or "").split(",") if w],
        adhoc=allocator or [], baseline=baseline or "", runs=rounds,
        time_s=parse_duration(time, "--time") if time else None, precision=share(precision),
        warm_up=warmup, input_path=input,
        timeout_s=parse_duration(timeout, "--timeout") if timeout else 0.0, seed=seed,
        cpus=parse_cpus(cpus), force=force, keep_environment=keep_env, ignore_output=ignore_output,
        allow_background=allow_background, output_files=output_file or [], check=check or "",
        least_rounds=min_rounds, most_rounds=max_rounds or 0, any_exit=ignore_failure,
        ignored_exits=parse_exits(ignore_exit), fresh_folder=fresh_dir, show_output=show_output,
    )
    demand_exports(export or [])
    console = Console(quiet, json)
    try:
        prepared = prepare_compare(request, os.environ)
    except Problem as problem:
        raise _explained(problem, commands or []) from problem
    announce(prepared, console)
    if dry_run:
        if json:
            console.json(prepared.plan)
        return 0
    return measure(prepared, store, console, strict=strict, exports=export or [])


def _explained(problem: Problem, commands: list[str]) -> Problem:
    """If a word before -- is no program, the user may have meant the arguments of one."""
    if problem.id != "E010" or len(commands) < 2:
        return problem
    return Problem("E010", problem.what, why="Without -- each word is a command line of its own.",
                   do=f"for one program with its arguments: heapwise compare -- "
                   f"{shlex.join(commands)}")


def measure(prepared: Prepared, store: str | None, console: Console, *, strict: bool = False,
            exports: list[Path] | None = None) -> int:
    """Starts the run in a store that was tried before anything is measured."""
    from heapwise.cli.frame import progress
    from heapwise.cli.frame.campaign import conduct
    from heapwise.runner import start
    from heapwise.store import check_writable, find_store

    store_path = find_store(store)
    check_writable(store_path)
    watcher = progress.choose(console.quiet)
    campaign = start(prepared, store_path, sys.argv, watcher)
    return conduct(campaign, watcher, console, strict=strict, exports=exports or [])


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
