"""Options that mean the same in every verb that has them, and what reads their values."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from heapwise.errors import Problem
from heapwise.wording.durations import parse_duration

StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="DIR", help="Folder of the runs. [HEAPWISE_STORE]"),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="JSON on stdout, everything else on stderr.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error.", expose_value=True)
]


def _name_machine(name: str | None) -> str | None:
    """The facts of the machine are read far from the command line; its children do not get it."""
    if name:
        os.environ["HEAPWISE_MACHINE"] = name
    return name


MachineOption = Annotated[
    str | None,
    typer.Option(
        "--machine",
        metavar="NAME",
        callback=_name_machine,
        help="The name of this machine in history and diff. [HEAPWISE_MACHINE]",
    ),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit with 4 if the result is not trustworthy.")
]
FleetOption = Annotated[
    str | None,
    typer.Option(
        "--fleet",
        metavar="WHERE",
        help="Measure on the machines of hosts.toml, slurm:PARTITION, k8s:NAMESPACE or "
        "dask:tcp://HOST:PORT.",
    ),
]
FleetMachinesOption = Annotated[
    int,
    typer.Option(
        "--fleet-machines", min=1, metavar="N", help="How many machines to ask slurm: or k8s: for."
    ),
]
FleetStallOption = Annotated[
    str,
    typer.Option(
        "--fleet-stall",
        metavar="DURATION",
        help="Kill a machine's process that has stored no sample for this long.",
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print the plan and its cost; measure nothing.")
]
TIME_HELP = "Start no new round after this long: 90s, 10m."
TimeOption = Annotated[str | None, typer.Option("--time", metavar="DURATION", help=TIME_HELP)]
LimitedTimeOption = Annotated[str, typer.Option("--time", metavar="DURATION", help=TIME_HELP)]
"""Of verbs that end as soon as they know enough: they always have a limit."""

TimeoutOption = Annotated[
    str | None, typer.Option(metavar="DURATION", help="Kill a process after this long.")
]
SeedOption = Annotated[int | None, typer.Option(min=0, metavar="N", help="Seed of order and data.")]
CpusOption = Annotated[
    str | None, typer.Option(metavar="LIST", help="Run on these processors: 0-3,6.")
]
SideBySideOption = Annotated[
    bool | None,
    typer.Option(
        "--side-by-side/--one-by-one",
        help="Run each subject beside the baseline, at once on one processor, after the first "
        "rounds; or never. Otherwise if that tells more.",
    ),
]
RoundsOption = Annotated[
    int | None,
    typer.Option(
        "--rounds", "-r", "--runs", min=1, metavar="N", help="Measure exactly this many rounds."
    ),
]
WarmUpOption = Annotated[
    int,
    typer.Option("--warmup", "-w", min=0, metavar="N", help="Rounds before the first that counts."),
]
InputOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="Standard input of every process.")
]
KeepEnvironmentOption = Annotated[
    bool, typer.Option("--keep-env", help="Keep MALLOC_*, LD_* and similar variables.")
]
IgnoreOutputOption = Annotated[
    bool, typer.Option("--ignore-output", help="The output of the program may differ.")
]
OutputFileOption = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Compare this file, which the program writes; repeatable."),
]
CheckOption = Annotated[
    str | None,
    typer.Option(metavar="COMMAND", help="Run this after each process; it must exit with 0."),
]
AllowBackgroundOption = Annotated[
    bool, typer.Option("--allow-background", help="The program may leave children running.")
]
IgnoreFailureOption = Annotated[
    bool, typer.Option("--ignore-failure", "-i", help="Any exit code is allowed.")
]
IgnoreExitOption = Annotated[
    str | None, typer.Option(metavar="LIST", help="These exit codes are allowed: 1,2.")
]
FreshDirOption = Annotated[
    bool, typer.Option("--fresh-dir", help="Run each process in a new, empty folder.")
]
ShowOutputOption = Annotated[
    bool, typer.Option("--show-output", help="Print the output of each process on stderr.")
]
PrepareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prepare",
        "-p",
        metavar="COMMAND",
        help="Run this before each process, outside of its time. Once for all "
        "programs, or once for each.",
    ),
]
SetupOption = Annotated[
    list[str] | None,
    typer.Option(
        "--setup",
        "-s",
        metavar="COMMAND",
        help="Run this once for each command, and for each value in it, before the first round.",
    ),
]
CleanupOption = Annotated[
    list[str] | None,
    typer.Option("--cleanup", "-c", metavar="COMMAND", help="Run this once after the last round."),
]
BUILD_HELP = "Builds the program. A shell runs it in a checkout of the commit, in the same folder."
BuildCommandOption = Annotated[
    str, typer.Option("--build-command", metavar="COMMAND", help=BUILD_HELP)
]
OptionalBuildCommandOption = Annotated[
    str | None, typer.Option("--build-command", metavar="COMMAND", help=BUILD_HELP)
]


def parse_timeout(text: str | None) -> float:
    """Seconds; 0 if there is no limit. Problem E003 if it is not a duration."""
    return parse_duration(text, "--timeout") if text else 0.0


def parse_cpus(text: str | None) -> list[int]:
    """Problem E003 if the text is not a list of processors."""
    from heapwise.machine import cpu_list

    if not text:
        return []
    try:
        return cpu_list(text)
    except ValueError as error:
        raise Problem(
            "E003", f"--cpus {text} is not a list of processors", do="write 0-3,6"
        ) from error


def parse_precision(percent: float) -> float:
    """--precision as a share. Problem E003 for a share that no interval can reach."""
    if not 0 < percent <= 100:
        raise Problem(
            "E003",
            f"--precision {percent:g}: it is a percentage above 0, up to 100",
            do="heapwise compare --precision 1 -- PROGRAM",
        )
    return percent / 100
