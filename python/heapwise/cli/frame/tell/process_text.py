"""Which process a trace is of, and which others the same recording has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.fitted_lines import boxed
from heapwise.trace.siblings import Sibling, siblings
from heapwise.wording.lists import counted
from heapwise.wording.numbers import size

if TYPE_CHECKING:
    from heapwise.trace import Trace

MOST_COMMAND = 48
"""Characters of a command in a list."""

MOST_SHOWN = 12


def process_lines(trace: Trace) -> Iterator[str]:
    """Nothing for a recording of one process."""
    found = siblings(trace)
    process = trace.process
    if process is None or len(found) < 2:
        return
    began = "a fork of" if process.forked else "started by"
    yield from boxed(
        "Process",
        f"{process.pid}, {began} process {process.parent}; one of {len(found)} of this recording",
    )
    others = [each for each in found if each.path.name != trace.path.name]
    yield from sibling_lines(others, "Others")


def say_process(trace: Path, console: Console) -> None:
    """For commands that play one trace of several."""
    from heapwise.trace import open_trace

    with open_trace(trace) as opened:
        for line in process_lines(opened):
            console.say(line)


def sibling_lines(found: Sequence[Sibling], title: str) -> Iterator[str]:
    """A line for each process, those with most bytes first."""
    most = sorted(found, key=lambda each: (-each.bytes, -each.events))
    for number, each in enumerate(most[:MOST_SHOWN]):
        yield from boxed(
            "" if number else title,
            f"{each.path} ({_amount(each)}): {command_text(each.command)}",
        )
    if len(most) > MOST_SHOWN:
        rest = most[MOST_SHOWN:]
        yield from boxed(
            "",
            f"and {counted(len(rest), 'process', 'processes')} with at most "
            f"{_amount(rest[0]).partition(',')[0]} each",
        )


def _amount(process: Sibling) -> str:
    if process.samples is not None:
        return counted(process.samples, "sample")
    left = f", {size(process.end_bytes)} not freed" if process.end_bytes else ""
    return f"{size(process.bytes)}, {counted(process.events, 'call')}{left}"


def command_text(command: Sequence[str]) -> str:
    """The name of the program without its folders, and as many arguments as fit."""
    if not command:
        return "its command is not known"
    text = " ".join([Path(command[0]).name, *command[1:]])
    return text if len(text) <= MOST_COMMAND else f"{text[: MOST_COMMAND - 3]}..."
