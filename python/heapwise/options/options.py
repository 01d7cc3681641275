"""All options that verbs share, those of ``compare``, and which of them the help shows first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapwise.options.option import (
    BISECT,
    COMPARE,
    EXPERIMENTS,
    GATE,
    MEASURING,
    PROGRAMS,
    RUN,
    SERVE,
    TRACES,
    Variation,
    option,
)
from heapwise.options.rounds import RoundOptions
from heapwise.options.serving import ServingOptions

MANY_MACHINES = (*PROGRAMS, SERVE, *EXPERIMENTS)
STORING = (*MANY_MACHINES, *TRACES)

LEAST_LAYOUTS = 6
"""The first look of a gate has as many rounds, and each has a layout of its own then."""

FIRST = (
    "ready",
    "load",
    "rates",
    "recipe",
    "load_s",
    "build",
    "parameter",
    "allocators",
    "baseline",
    "rounds",
    "time_s",
    "warm_up",
    "prepare",
    "output_files",
    "export",
    "author_outputs",
)
"""The fields whose options --help shows. It shows the options of one verb alone, too."""


@dataclass(frozen=True, kw_only=True)
class Options(RoundOptions, ServingOptions):
    """A verb has the fields that name it; the others have their defaults there."""

    build: list[str] = option(
        "--build",
        metavar="NAME=COMMAND",
        help="A program to compare; repeatable. It gets the words after -- as arguments.",
        verbs=(COMPARE,),
        default=[],
    )
    command_name: list[str] = option(
        "--command-name",
        "-n",
        metavar="NAME",
        help="Name of a command in the tables; once for each command.",
        verbs=(COMPARE,),
        default=[],
    )
    reference: str | None = option(
        "--reference",
        metavar="COMMAND",
        help="The command that is the baseline, before all others.",
        verbs=(COMPARE,),
        of_hyperfine=True,
    )
    parameter: list[str] = option(
        "--parameter",
        "-L",
        "--parameter-list",
        metavar="NAME=V1,V2",
        help="Measure the commands with each of these values for {NAME}; repeatable. {round} is "
        "the number of the round.",
        verbs=(COMPARE,),
        default=[],
    )
    scan: tuple[str, str, str] | None = option(
        "--parameter-scan",
        "-P",
        metavar="NAME MIN MAX",
        help="Measure the commands with each number of this range for {NAME}.",
        verbs=(COMPARE,),
        of_hyperfine=True,
    )
    scan_step: str | None = option(
        "--parameter-step-size",
        "-D",
        metavar="STEP",
        help="The step between two numbers of -P. [default: 1]",
        verbs=(COMPARE,),
        of_hyperfine=True,
    )
    prepare: list[str] = option(
        "--prepare",
        "-p",
        metavar="COMMAND",
        help="Run this before each process, outside of its time: once for all, or once for each.",
        verbs=PROGRAMS,
        default=[],
    )
    conclude: list[str] = option(
        "--conclude",
        "-C",
        metavar="COMMAND",
        help="Run this after each process, outside of its time. Once for all programs, or once "
        "for each.",
        verbs=(COMPARE,),
        of_hyperfine=True,
        default=[],
    )
    setup: list[str] = option(
        "--setup",
        "-s",
        metavar="COMMAND",
        help="Run this once for each command, and for each value in it, before the first round.",
        verbs=PROGRAMS,
        default=[],
    )
    cleanup: list[str] = option(
        "--cleanup",
        "-c",
        metavar="COMMAND",
        help="Run this once after the last round.",
        verbs=PROGRAMS,
        default=[],
    )
    shell: str | None = option(
        "--shell",
        "-S",
        metavar="SHELL",
        help="Start each command by a shell: alone by /bin/sh, or bash, or 'bash --norc'. Its time "
        "is measured too. -N: by none.",
        verbs=(COMPARE,),
        of_hyperfine=True,
    )
    protection: bool = option(
        "--protection",
        help="Measure glibc, heapwise and all allocators that are built to resist attacks, and "
        "show which attacks each stops.",
        verbs=(COMPARE,),
        default=False,
    )
    build_command: str | None = option(
        "--build-command",
        metavar="COMMAND",
        help="Builds the program. A shell runs it in a checkout of the commit, in the same folder.",
        verbs=(GATE, BISECT),
    )
    relink: int | None = option(
        "--relink",
        metavar="N",
        least=LEAST_LAYOUTS,
        help="Link each build again with N random layouts, at least 6, and let the verdict allow "
        "for how much the layout changes. It needs --build-command, and in gate --base-commit.",
        verbs=(GATE, BISECT),
    )
    play_anyway: bool = option(
        "--force",
        help="Play it although it had more processors.",
        verbs=TRACES,
        default=False,
    )
    window: int | None = option(
        "--window",
        metavar="N",
        least=0,
        help="Play this part of a cut trace. [its peak]",
        verbs=TRACES,
    )
    strict: bool = option(
        "--strict",
        help="Exit with 4 if the result is not trustworthy.",
        verbs=MANY_MACHINES,
        variations={GATE: Variation(help="Exit with 4 if a metric is undecided.")},
        default=False,
    )
    time_unit: str | None = option(
        "--time-unit",
        "-u",
        metavar="UNIT",
        help="Print and export times in this unit: second, millisecond, microsecond.",
        verbs=(COMPARE,),
        of_hyperfine=True,
    )
    export: list[Path] = option(
        "--export",
        metavar="FILE",
        help="Write the result to this file too: .json, .csv, .md, .html or .bmf.json (Bencher); "
        "repeatable.",
        verbs=(*PROGRAMS, SERVE),
        variations={
            GATE: Variation(
                help="Write .xml (JUnit), .sarif, .md or .bmf.json (Bencher); repeatable."
            )
        },
        default=[],
    )
    fleet: str | None = option(
        "--fleet",
        metavar="WHERE",
        help="Measure on the machines of hosts.toml, slurm:PARTITION, k8s:NAMESPACE or "
        "dask:tcp://HOST:PORT. Settings follow: slurm:batch,machines=4,stall=2h.",
        verbs=MANY_MACHINES,
    )
    store: str | None = option(
        "--store",
        metavar="DIR",
        help="Folder of the runs. [HEAPWISE_STORE]",
        verbs=STORING,
    )
    json: bool = option(
        "--json",
        help="JSON on stdout, everything else on stderr.",
        verbs=MEASURING,
        default=False,
    )
    markdown: bool = option(
        "--markdown",
        help="A sentence and a short table for a pull request on stdout.",
        verbs=(COMPARE,),
        default=False,
    )
    quiet: bool = option(
        "--quiet", "-q", help="Print only the result.", verbs=MEASURING, default=False
    )
    dry_run: bool = option(
        "--dry-run",
        help="Print the plan and its cost; measure nothing.",
        verbs=MEASURING,
        default=False,
    )
    machine: str | None = option(
        "--machine",
        metavar="NAME",
        help="The name of this machine in history and diff. [HEAPWISE_MACHINE]",
        verbs=(*PROGRAMS, SERVE, RUN),
    )
