"""Options that mean the same in every verb that has them, and what reads their values."""

from __future__ import annotations

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
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit with 4 if the result is not trustworthy.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print the plan and its cost; measure nothing.")
]


def parse_cpus(text: str | None) -> list[int]:
    """Problem E003 if the text is not a list of processors."""
    from heapwise.processors import cpu_list

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


def parse_whole_seconds(text: str, flag: str) -> float:
    """Problem E003 for a fraction of a second, which load generators do not take."""
    seconds = parse_duration(text, flag)
    if seconds != int(seconds):
        raise Problem(
            "E003", f"{flag} {text}: load generators take whole seconds", do=f"{flag} 10s"
        )
    return seconds


def parse_shares(text: str, flag: str) -> list[float]:
    """``50%,70%`` -> 0.5, 0.7. Problem E003 for text that is not a share, or is above 100 %."""
    found = []
    for word in text.split(","):
        try:
            share = float(word.strip().rstrip("%")) / 100
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            raise Problem(
                "E003",
                f"{flag} {word}: it is a share above 0 %, up to 100 %",
                do=f"{flag} 50%,70%,90%",
            )
        found.append(share)
    return found
