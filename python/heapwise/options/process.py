"""Options that say how each process runs and what it may do. A plan stores them."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.options.option import (
    BISECT,
    COMPARE,
    EXPERIMENTS,
    GATE,
    PROGRAMS,
    RUN,
    SERVE,
    Form,
    option,
)


@dataclass(frozen=True, kw_only=True)
class ProcessOptions:
    side_by_side: bool | None = option(
        "--side-by-side/--one-by-one",
        help="Run each subject beside the baseline, at once on one processor, after the first "
        "rounds, and servers in each round; or never. Otherwise if that tells more.",
        verbs=(COMPARE, SERVE, GATE, BISECT),
    )
    """None: if that can tell more than separate processes."""

    output_files: list[str] = option(
        "--output-file",
        metavar="FILE",
        help="Compare this file, which the program writes; repeatable.",
        verbs=PROGRAMS,
        default=[],
    )
    """In a plan: absolute paths, if the processes share a folder."""

    check: str = option(
        "--check",
        metavar="COMMAND",
        help="Run this after each process; it must exit with 0.",
        verbs=PROGRAMS,
        default="",
    )
    """A shell's command that judges what a process has done; "" for none."""

    ignore_output: bool = option(
        "--ignore-output",
        help="The output of the program may differ.",
        verbs=PROGRAMS,
        default=False,
    )
    any_exit: bool = option(
        "--ignore-failure",
        "-i",
        help="Any exit code is allowed.",
        verbs=PROGRAMS,
        default=False,
    )
    ignored_exits: list[int] = option(
        "--ignore-exit",
        metavar="LIST",
        form=Form.EXITS,
        help="These exit codes are allowed: 1,2.",
        verbs=(*PROGRAMS, BISECT),
        default=[],
    )
    """Besides 0."""

    allow_background: bool = option(
        "--allow-background",
        help="The program may leave children running.",
        verbs=PROGRAMS,
        default=False,
    )
    fresh_folder: bool = option(
        "--fresh-dir",
        help="Run each process in a new, empty folder.",
        verbs=(*PROGRAMS, BISECT),
        default=False,
    )
    show_output: bool = option(
        "--show-output",
        help="Print the output of each process on stderr.",
        verbs=PROGRAMS,
        default=False,
    )
    cpus: list[int] = option(
        "--cpus",
        metavar="LIST",
        form=Form.PROCESSORS,
        help="Run on these processors: 0-3,6.",
        verbs=(*PROGRAMS, SERVE, BISECT, *EXPERIMENTS),
        default=[],
    )
    """Empty: the program runs where the kernel puts it."""

    keep_environment: bool = option(
        "--keep-env",
        help="Keep MALLOC_*, LD_* and similar variables.",
        verbs=(*PROGRAMS, SERVE, BISECT, RUN),
        default=False,
    )
    force: bool = option(
        "--force",
        help="Measure even if malloc cannot be replaced in the whole program.",
        verbs=(COMPARE, SERVE),
        default=False,
    )
    most_rounds: int = option(
        "--max-rounds",
        "-M",
        "--max-runs",
        metavar="N",
        least=1,
        help="Measure at most this many rounds.",
        verbs=(COMPARE,),
        default=0,
    )
    """The limit of a run that ends by its intervals; 0: as many as are useful."""
