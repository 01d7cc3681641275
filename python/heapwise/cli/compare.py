"""``heapwise compare``: programs side by side, or one program under every allocator."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame import attach_form, serve_form
from heapwise.cli.frame.command_form import (
    TAIL,
    CommandWords,
    CompareCommand,
    parse_exits,
    parse_parameters,
)
from heapwise.cli.frame.console import Console
from heapwise.cli.frame.exports import demand_exports
from heapwise.cli.frame.options import (
    AllowBackgroundOption,
    CheckOption,
    CleanupOption,
    CpusOption,
    DebugOption,
    DryRunOption,
    FleetMachinesOption,
    FleetOption,
    FleetStallOption,
    FreshDirOption,
    IgnoreExitOption,
    IgnoreFailureOption,
    IgnoreOutputOption,
    InputOption,
    JsonOption,
    KeepEnvironmentOption,
    MachineOption,
    OutputFileOption,
    PrepareOption,
    QuietOption,
    RoundsOption,
    SeedOption,
    SetupOption,
    ShowOutputOption,
    SideBySideOption,
    StoreOption,
    StrictOption,
    TimeOption,
    TimeoutOption,
    WarmUpOption,
    parse_cpus,
    parse_precision,
    parse_timeout,
)
from heapwise.errors import Problem
from heapwise.wording.durations import parse_duration

if TYPE_CHECKING:
    from heapwise.model import Result


def register(app: typer.Typer) -> None:
    app.command(
        "compare",
        cls=CompareCommand,
        short_help="Run programs side by side, or one under every allocator.",
        options_metavar="[OPTIONS]",
    )(compare)


Texts = list[str] | None


def compare(
    context: typer.Context,
    commands: Annotated[
        Texts,
        typer.Argument(
            metavar="COMMAND... | -- PROGRAM ARGS",
            show_default=False,
            help="Command lines, or one program with its arguments.",
        ),
    ] = None,
    build: Annotated[
        Texts,
        typer.Option(
            metavar="NAME=COMMAND",
            help="A program to compare; repeatable. It gets the words after -- as arguments.",
        ),
    ] = None,
    command_name: Annotated[
        Texts,
        typer.Option(
            "--command-name",
            "-n",
            metavar="NAME",
            help="Name of a command in the tables; once for each command.",
        ),
    ] = None,
    parameter: Annotated[
        Texts,
        typer.Option(
            "--parameter",
            "-L",
            "--parameter-list",
            metavar="NAME=V1,V2",
            help="Measure the commands with each of these values for {NAME}; "
            "repeatable. {round} is the number of the round.",
        ),
    ] = None,
    rounds: RoundsOption = None,
    side_by_side: SideBySideOption = None,
    min_rounds: Annotated[
        int | None,
        typer.Option(
            "--min-rounds",
            "-m",
            "--min-runs",
            min=1,
            metavar="N",
            help="Measure at least this many rounds.",
        ),
    ] = None,
    max_rounds: Annotated[
        int | None,
        typer.Option(
            "--max-rounds",
            "-M",
            "--max-runs",
            min=1,
            metavar="N",
            help="Measure at most this many rounds.",
        ),
    ] = None,
    time: TimeOption = None,
    warmup: WarmUpOption = 1,
    prepare: PrepareOption = None,
    setup: SetupOption = None,
    cleanup: CleanupOption = None,
    ignore_failure: IgnoreFailureOption = False,
    ignore_exit: IgnoreExitOption = None,
    shell: Annotated[
        bool,
        typer.Option(
            "--shell/--no-shell",
            " /-N",
            help="Start each command by /bin/sh, whose time is measured too.",
        ),
    ] = False,
    fresh_dir: FreshDirOption = False,
    show_output: ShowOutputOption = False,
    allocators: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Measure only these allocators (heapwise "
            "peers list shows them), or all. If several programs are "
            "compared, each keeps its malloc unless this is given.",
        ),
    ] = None,
    allocator: Annotated[
        Texts,
        typer.Option(
            metavar="NAME=/PATH.so", help="Add the allocator in this library; repeatable."
        ),
    ] = None,
    protection: Annotated[
        bool,
        typer.Option(
            "--protection",
            help="Measure glibc, heapwise and all allocators that "
            "are built to resist attacks, and show which attacks each stops.",
        ),
    ] = False,
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare with this row. [default: the first]")
    ] = None,
    input: InputOption = None,
    output_file: OutputFileOption = None,
    check: CheckOption = None,
    ignore_output: IgnoreOutputOption = False,
    allow_background: AllowBackgroundOption = False,
    timeout: TimeoutOption = None,
    precision: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="Measure until each 95 % interval is within this many percent."
        ),
    ] = 0.5,
    seed: SeedOption = None,
    cpus: CpusOption = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Measure even if malloc cannot be replaced in the whole program."
        ),
    ] = False,
    keep_env: KeepEnvironmentOption = False,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="The program is a server: start it, put it under --load, stop it."
        ),
    ] = False,
    ready: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="When the server is ready: tcp:PORT answers, "
            "http:URL answers, or it prints line:REGEX.",
        ),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="The load generator, with {rate}, {time} and {port} in its arguments.",
        ),
    ] = None,
    rates: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Measure latency at these rates, shares of "
            "the capacity with the slowest allocator: 50%,70%.",
        ),
    ] = None,
    load_time: Annotated[
        str, typer.Option(metavar="DURATION", help="How long each load lasts.")
    ] = "10s",
    window: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Measure the load in windows of this "
            "length, without those at the start that the data show to be "
            "warm-up.",
        ),
    ] = None,
    idle: Annotated[
        str, typer.Option(metavar="DURATION", help="How long the server is idle after the load.")
    ] = "5s",
    ready_time: Annotated[
        str, typer.Option(metavar="DURATION", help="How long a server may take to be ready.")
    ] = "30s",
    attach: Annotated[
        int | None,
        typer.Option(
            metavar="PID",
            min=1,
            help="Watch the memory of a process that "
            "runs already, for --time, and measure nothing else.",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A server with a known load, such as redis: see docs/how-to/measure-a-server.md.",
        ),
    ] = None,
    strict: StrictOption = False,
    export: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write the result to this file too: "
            ".json, .csv, .md, .html or .bmf.json (Bencher); "
            "repeatable.",
        ),
    ] = None,
    fleet: FleetOption = None,
    fleet_machines: FleetMachinesOption = 1,
    fleet_stall: FleetStallOption = "30m",
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    dry_run: DryRunOption = False,
    machine: MachineOption = None,
    debug: DebugOption = False,
) -> int:
    """Compare programs, or one program under every allocator, in time and memory.

    \b
    heapwise compare './old --bench' './new --bench'
    heapwise compare --build old=./a --build new=./b -- --bench
    heapwise compare -L threads 1,2,4 './old {threads}' './new {threads}'
    heapwise compare -- ./server --bench               under every allocator
    heapwise compare --output-file big.o -- cc -O2 -c big.c -o big.o

    Each argument before -- is a whole command line. The words after -- are one program with its
    arguments; it is measured under every allocator. The baseline is the first command, or the
    allocator that the program uses today. In each round everything runs once, in random order.
    Rounds are added until every 95 % interval is within --precision, or until --time is over,
    which is 3 minutes by default. Ctrl-C shows what was measured so far, and heapwise resume goes
    on.
    """
    if fleet is not None:
        from heapwise.cli.frame.fleet_form import measure_on_fleet

        return measure_on_fleet(
            fleet,
            store,
            Console(quiet, json),
            machines=fleet_machines,
            stall=fleet_stall,
            dry_run=dry_run,
        )
    from heapwise.cli.frame.announce import announce
    from heapwise.cli.frame.measure import measure
    from heapwise.runner import CompareRequest, prepare_compare
    from heapwise.store import find_store

    if attach is not None:
        return attach_form.watch(attach, time, Console(quiet, json))
    if min_rounds and max_rounds and min_rounds > max_rounds:
        raise Problem(
            "E003",
            f"--min-rounds {min_rounds} is more than --max-rounds {max_rounds}",
            do="heapwise compare -m 10 -M 50 -- PROGRAM",
        )
    words = CommandWords(
        commands or [],
        context.meta.get(TAIL),
        build or [],
        command_name or [],
        shell,
        prepare or [],
        setup or [],
        cleanup or [],
    )
    request = CompareRequest(
        builds=[] if recipe and not context.meta.get(TAIL) else words.parse(),
        parameters=parse_parameters(parameter or []),
        allocators=_allocators(allocators, protection=protection),
        adhoc=allocator or [],
        baseline=baseline or "",
        runs=rounds,
        time_s=parse_duration(time, "--time") if time else None,
        precision=parse_precision(precision),
        warm_up=warmup,
        input_path=input,
        timeout_s=parse_timeout(timeout),
        seed=seed,
        cpus=parse_cpus(cpus),
        force=force,
        keep_environment=keep_env,
        ignore_output=ignore_output,
        allow_background=allow_background,
        output_files=output_file or [],
        check=check or "",
        least_rounds=min_rounds,
        most_rounds=max_rounds or 0,
        any_exit=ignore_failure,
        side_by_side=side_by_side,
        ignored_exits=parse_exits(ignore_exit),
        fresh_folder=fresh_dir,
        show_output=show_output,
        sets_up=not (dry_run or serve or recipe),
    )
    if serve or recipe:
        return serve_form.measure_server(
            serve_form.server_request(
                request,
                ready,
                load,
                rates,
                serve_form.read_times(load_time, idle, ready_time, window),
                recipe,
            ),
            store,
            Console(quiet, json),
            dry_run=dry_run,
            strict=strict,
            exports=export or [],
        )
    demand_exports(export or [])
    console = Console(quiet, json)
    try:
        prepared = prepare_compare(request, os.environ)
    except Problem as problem:
        raise _explained(problem, commands or []) from problem
    announce(prepared, console)
    if mistaken := own_options(context, words.tail or []):
        console.say(
            f"Note         {', '.join(mistaken)}: words after -- are arguments of "
            "the program. Options of heapwise come before --."
        )
    if dry_run:
        if json:
            console.json(prepared.plan)
        return 0
    shown = measure(prepared, store, console, strict=strict, exports=export or [])
    if protection and not json:
        _say_protection(shown.result, find_store(store), console)
    return shown.code


def _allocators(names: str | None, *, protection: bool) -> list[str]:
    """Problem E003 if both are given."""
    if not protection:
        return [word for word in (names or "").split(",") if word]
    if names:
        raise Problem(
            "E003",
            "--protection chooses the allocators, and --allocators does too",
            do="heapwise compare --protection -- PROGRAM",
        )
    from heapwise.catalog import find_peers
    from heapwise.study.attacks.price import protected_names

    return protected_names(find_peers())


def _say_protection(result: Result | None, store: Path, console: Console) -> None:
    from heapwise.study.attacks.price import price_text

    if result is not None and any(row.n for row in result.rows):
        console.result(f"\n{price_text(result, store)}")


def own_options(context: typer.Context, tail: Sequence[str]) -> list[str]:
    """Words after -- that are long options of this verb, which the user may have meant."""
    known = {name for option in context.command.params for name in option.opts}
    return [word for word in tail if word.startswith("--") and word.partition("=")[0] in known]


def _explained(problem: Problem, commands: list[str]) -> Problem:
    """If a word before -- is not a program, the user may have meant the arguments of one. A command
    with a space is a command line in any case."""
    if problem.id != "E010" or len(commands) < 2 or any(" " in word for word in commands):
        return problem
    return Problem(
        "E010",
        problem.what,
        why="Without -- each word is a command line of its own.",
        do=f"for one program with its arguments: heapwise compare -- {shlex.join(commands)}",
    )
