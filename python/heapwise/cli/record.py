"""``heapwise record``: writes down what a program allocates and frees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.console import Console
from heapwise.cli.frame.options import DebugOption, JsonOption, QuietOption
from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.trace import Summary


def register(app: typer.Typer) -> None:
    app.command("record", short_help="Write a trace of what a program allocates.",
                context_settings={"allow_interspersed_args": False})(record)


def record(
    program: Annotated[
        list[str] | None, typer.Argument(metavar="-- PROGRAM [ARGS]...", show_default=False)
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="[NAME.hwt, of the program]"),
    ] = None,
    max_size: Annotated[
        str, typer.Option(metavar="SIZE", help="The trace never grows beyond this.")
    ] = "256M",
    stacks: Annotated[
        int, typer.Option(min=1, metavar="N", help="Note the stack of one allocation in N.")
    ] = 256,
    force: Annotated[
        bool, typer.Option("--force", help="Record even if calls may be missed.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> int:
    """Write down every call of malloc, free, new and delete that a program makes.

    \b
    heapwise record -- ./server --bench
    heapwise record -o load.hwt --max-size 64M -- sqlite3 :memory: '.read load.sql'
    heapwise trace load.hwt

    Ends with the exit code of the program. If the trace would become larger than --max-size, it
    keeps windows that are spread over the whole run, each with the blocks that live at its begin.
    """
    from heapwise.runner.recording import Recording, record
    from heapwise.wording.sizes import parse_size

    if not program:
        raise Problem("E003", "no program was given", do="heapwise record -- PROGRAM [ARGS]...")
    path = Path(output or f"{Path(program[0]).name}.hwt")
    console = Console(quiet, json)
    summary = record(Recording(program, path, parse_size(max_size, "--max-size"), stacks, force))
    if json:
        console.json({"trace": str(path), "summary": summary})
    else:
        for line in _said(summary, path):
            console.say(line)
    return 128 + summary.signal if summary.signal else summary.exit_code or 0


def _said(summary: Summary, path: Path) -> list[str]:
    from heapwise.wording.numbers import percent, significant, size

    stored = path.stat().st_size
    lines = [f"Recorded {summary.events:,} calls of {summary.threads} threads in "
             f"{significant(summary.wall_s)} s: {summary.blocks:,} blocks, at most "
             f"{size(summary.peak_live_bytes)} at once"]
    if summary.kept_events < summary.events:
        lines.append(f"Kept     {percent(summary.kept_events / summary.events)} of the calls, in "
                     f"{summary.windows} windows")
    if summary.signal:
        lines.append(f"Ended    by signal {summary.signal}; the trace goes up to there")
    if summary.other_processes:
        lines.append(f"Missed   {summary.other_processes} other processes that it started")
    if summary.threads_missed or summary.events_missed:
        lines.append(f"Missed   {summary.threads_missed} threads, {summary.events_missed} calls")
    lines.append(f"Saved    {path} ({size(stored)})    heapwise trace {path}")
    return lines
