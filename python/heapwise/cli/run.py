"""``heapwise run``: experiments, each subject in processes of its own."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from heapwise.cli.frame import completion
from heapwise.cli.frame.console import Console
from heapwise.cli.frame.options import (
    CpusOption,
    DebugOption,
    DryRunOption,
    FleetMachinesOption,
    FleetOption,
    FleetStallOption,
    JsonOption,
    KeepEnvironmentOption,
    MachineOption,
    QuietOption,
    SeedOption,
    StoreOption,
    StrictOption,
    TimeOption,
    TimeoutOption,
    parse_cpus,
    parse_timeout,
)
from heapwise.wording.durations import parse_duration


def register(app: typer.Typer) -> None:
    app.command("run")(run)


def run(
    context: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            autocompletion=completion.experiments,
            help="Ids, families, patterns, shelf or all.",
        ),
    ] = None,
    smoke: Annotated[bool, typer.Option("--smoke", help="Small sizes, as a trial.")] = False,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=V1,V2", help="Parameter values.")
    ] = None,
    subjects: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these and the baseline; or patterns.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Repeats in each process.")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Rounds of processes. [enough for the comparisons, smoke 1]"
        ),
    ] = None,
    time: TimeOption = None,
    timeout: TimeoutOption = None,
    seed: SeedOption = None,
    cpus: CpusOption = None,
    keep_env: KeepEnvironmentOption = False,
    strict: StrictOption = False,
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
    """Run experiments and save every sample. Without an experiment it prints this help.

    \b
    heapwise run pool/bulk
    heapwise run shelf                        the small experiments: caches, locks, calls
    heapwise run all                          every one that is installed
    heapwise run heap --smoke --json
    heapwise run pool/concurrent --set threads=1,2 --subjects 'mutex,malloc' --time 5m
    """
    if not ids:
        typer.echo(context.get_help())
        return 0
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
    from heapwise.cli.frame.announce import announce, estimate_s, processes_of
    from heapwise.cli.frame.measure import measure
    from heapwise.runner import RunRequest, prepare_run
    from heapwise.store import costs, find_store

    request = RunRequest(
        patterns=ids,
        settings=set or [],
        smoke=smoke,
        repeats=repeats,
        rounds=rounds,
        subjects=[word for word in (subjects or "").split(",") if word],
        time_s=parse_duration(time, "--time") if time else None,
        timeout_s=parse_timeout(timeout),
        seed=seed,
        cpus=parse_cpus(cpus),
        keep_environment=keep_env,
    )
    prepared = prepare_run(request, os.environ)
    console = Console(quiet, json)
    known = costs(find_store(store), smoke)
    announce(prepared, console, known)
    if dry_run:
        if json:
            console.json(
                {
                    "plan": prepared.plan,
                    "processes": processes_of(prepared),
                    "estimated_s": estimate_s(prepared, known),
                }
            )
        return 0
    return measure(prepared, store, console, strict=strict).code
