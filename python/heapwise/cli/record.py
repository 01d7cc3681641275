"""``heapwise record``: writes down what a program allocates and frees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask.options import JsonOption, QuietOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.runner.recording import Recorded


def register(app: typer.Typer) -> None:
    app.command(
        "record",
        short_help="Write a trace of what a program allocates.",
        context_settings={"allow_interspersed_args": False},
    )(record)


def record(
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- PROGRAM [ARGS]...", help="The program to record.", show_default=False
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the trace to this file. [NAME.hwt, NAME-2.hwt, ...]",
        ),
    ] = None,
    max_size: Annotated[
        str, typer.Option(metavar="SIZE", help="The trace never grows beyond this.")
    ] = "256M",
    stacks: Annotated[
        str,
        typer.Option(
            metavar="N|all|none",
            help="Note the stack of one allocation in N. "
            "N:frames uses frame pointers, which the program must have.",
        ),
    ] = "256",
    profile: Annotated[
        bool, typer.Option("--profile", help="Record a sample of the calls, for production.")
    ] = False,
    sample_every: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Bytes from one sample to the next. [512K]")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Record child processes, each in a trace of its own.")
    ] = False,
    start_paused: Annotated[
        bool, typer.Option("--start-paused", help="Record nothing until --resume.")
    ] = False,
    pause: Annotated[
        int | None, typer.Option(metavar="PID", help="Pause the recording of a process.")
    ] = None,
    resume: Annotated[
        int | None, typer.Option(metavar="PID", help="Go on with a recording that is paused.")
    ] = None,
    attach: Annotated[
        int | None,
        typer.Option(
            metavar="PID",
            help="Record a process that was started with --start-paused, for a while.",
        ),
    ] = None,
    lasting: Annotated[
        str | None,
        typer.Option("--for", metavar="DURATION", help="How long --attach records. [to Ctrl-C]"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Record even if calls may be missed.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write down every call of malloc, free, new and delete that a program makes.

    \b
    heapwise record -- ./server --bench
    heapwise record -o load.hwt --max-size 64M -- sqlite3 :memory: '.read load.sql'
    heapwise record --profile -o day.hwt -- ./server
    heapwise record --follow -o build.hwt -- make  # build.hwt, and build.PID.hwt for each child
    heapwise record --profile --follow -o pool.hwt -- gunicorn app
    heapwise record --stacks all:frames -- ./built-with-fno-omit-frame-pointer
    heapwise record --start-paused --profile -o live.hwt -- ./server
    heapwise record --attach PID --for 30s         # then: heapwise trace live.hwt, while it runs
    heapwise trace load.hwt

    Ends with the exit code of the program. If the trace would become larger than --max-size, it
    keeps windows that are spread over the whole run, each with the blocks that live when it begins.
    With --profile, each byte is a sample with the same chance; heapwise trace then gives estimates.
    """
    from heapwise.runner.recording import LEAST_GAP, SAMPLE_EVERY, Recording, record
    from heapwise.wording.sizes import parse_size

    if program and (pause or resume or attach):
        raise Problem(
            "E003",
            "--pause, --resume and --attach are for a process that runs, and start no program",
            do="leave out the program, or record it: heapwise record -- PROGRAM [ARGS]...",
        )
    if pause or resume:
        return _switch(pause, resume)
    if attach:
        return _attach(attach, lasting, Console(quiet, json))
    if lasting:
        raise Problem("E003", "--for is for --attach", do="heapwise record --attach PID --for 30s")
    if not program:
        raise Problem("E003", "no program was given", do="heapwise record -- PROGRAM [ARGS]...")
    if sample_every and not profile:
        raise Problem("E003", "--sample-every is for --profile", do="add --profile")
    gap = parse_size(sample_every, "--sample-every") if sample_every else SAMPLE_EVERY
    if not gap:  # to the recorder, it means every call
        raise Problem(
            "E003",
            f"--sample-every {sample_every} is below {LEAST_GAP}",
            do="heapwise record --profile --sample-every 512k -- PROGRAM, or for every call "
            "without --profile",
        )
    chosen, _, way = stacks.partition(":")
    if way not in ("", "frames") or (way and profile):
        raise Problem(
            "E003",
            "--profile finds stacks by unwind tables"
            if profile
            else f"--stacks {stacks} names no way to find stacks but frames",
            do="heapwise record --stacks 16:frames -- PROGRAM",
        )
    every = 1 if profile else _stack_every(chosen)
    path = Path(output) if output else _free_name(Path(program[0]).name)
    console = Console(quiet, json)
    summary = record(
        Recording(
            program,
            path,
            parse_size(max_size, "--max-size"),
            every,
            gap if profile else 0,
            start_paused,
            force,
            frame_pointers=bool(way),
            follows=follow,
            keeps_stdout=json,
        )
    )
    if json:
        console.json({"trace": str(path), "summary": summary})
    else:
        for line in _said(summary, path, gap if profile else 0):
            console.say(line)
    if cut := summary.not_written:
        raise Problem(
            "E051",
            f"{cut.path} could not be written to its end: {cut.reason}",
            why="The trace holds the calls before that, and no later ones.",
            do="make room, or -o FILE on another disk",
        )
    if (missed := summary.missed()) and not force:
        raise missed.as_problem(Path(summary.processes[0].program or program[0]).name)
    return 128 + summary.signal if summary.signal else summary.exit_code or 0


def _free_name(program: str) -> Path:
    """A file that is not there yet: nobody has said that a trace may be replaced."""
    path, number = Path(f"{program}.hwt"), 1
    while path.exists():
        number += 1
        path = Path(f"{program}-{number}.hwt")
    return path


def _stack_every(stacks: str) -> int:
    """0 for none of the allocations."""
    if stacks in ("all", "none"):
        return 1 if stacks == "all" else 0
    if not stacks.isdecimal() or int(stacks) == 0:
        raise Problem(
            "E003",
            f"--stacks {stacks} is neither a number above 0, all nor none",
            do="heapwise record --stacks 256 -- PROGRAM",
        )
    return int(stacks)


def _switch(pause: int | None, resume: int | None) -> int:
    from heapwise.runner import recording

    if pause:
        recording.pause(pause)
    if resume:
        recording.resume(resume)
    return 0


def _attach(process: int, lasting: str | None, console: Console) -> int:
    from heapwise.runner.attached_recording import attached
    from heapwise.runner.process.stop_switch import StopSwitch
    from heapwise.runner.recording import trace_of
    from heapwise.wording.durations import parse_duration
    from heapwise.wording.numbers import significant, size

    wanted_s = parse_duration(lasting, "--for") if lasting else None
    trace_of(process)
    if wanted_s is None:
        console.say(f"Recording process {process}. Ctrl-C ends that; the process runs on.")
    with StopSwitch() as stop:
        found = attached(process, wanted_s, stop)
    if console.as_json:
        console.json(found)
        return 0
    more = "; the process has ended" if found.has_ended else ""
    console.say(f"Recorded process {process} for {significant(found.seconds)} s{more}")
    console.say(f"Saved    {found.trace} ({size(found.bytes)})    heapwise trace {found.trace}")
    return 0


def _children(summary: Recorded, sampled: bool) -> list[str]:
    """What was recorded of child processes."""
    from heapwise.cli.frame.tell.process_text import sibling_lines
    from heapwise.trace import TracedProcess
    from heapwise.trace.siblings import Sibling
    from heapwise.wording.lists import counted
    from heapwise.wording.numbers import percent, size

    children = summary.processes[1:]
    if not children:
        return []
    events = sum(each.events for each in summary.processes)
    kept = sum(each.kept_events for each in summary.processes)
    of_all = (
        counted(sum(each.blocks for each in summary.processes), "sample")
        if sampled
        else counted(events, "call")
    )
    lines = [
        f"Followed {counted(len(children), 'child', 'children')}; {of_all} in all, "
        f"{percent(kept / events if events else 1)} kept, "
        f"{size(sum(each.bytes for each in summary.processes))}"
    ]
    lines += sibling_lines(
        [
            Sibling(
                Path(each.trace),
                TracedProcess(each.pid, each.parent, first=False),
                each.commands[-1] if each.commands else [],
                each.events,
                each.asked_bytes,
                each.blocks if sampled else None,
            )
            for each in children
            if each.trace
        ],
        "Traces",
    )
    if missed := sum(not each.trace for each in children):
        lines.append(
            f"Missed   {counted(missed, 'child', 'children')} for which --max-size left no room"
        )
    return lines


def _missed(summary: Recorded) -> list[str]:
    """What was not recorded."""
    from heapwise.runner.unrecorded import unrecorded
    from heapwise.wording.lists import counted

    lines = []
    first = summary.processes[0]
    if first.other_program:
        other = unrecorded(first.other_program)
        lines.append(
            f"Missed   {other.name}, which {Path(first.program).name} executed: {other.reason}"
        )
    for each in dict.fromkeys(map(unrecorded, summary.children_without)):
        lines.append(f"Missed   {each.name}, which it started: {each.reason}")
    if others := max(summary.other_processes, summary.forked_processes, summary.still_running):
        lines.append(
            f"Missed   {counted(others, 'process', 'processes')} that it started; "
            "heapwise record --follow records them"
        )
    if summary.unknown_ends:
        lines.append(
            f"Missed   the beginning of {counted(summary.unknown_ends, 'block')}: their "
            "frees were seen, and not the calls that made them"
        )
    if summary.lost_ends:
        lines.append(
            f"Missed   the end of {counted(summary.lost_ends, 'block')}: their addresses were "
            "given out again, and nothing was seen to free them. A library that was opened with "
            "RTLD_DEEPBIND calls the C library's free itself"
        )
    if summary.threads_missed or summary.events_missed:
        lines.append(
            f"Missed   {counted(summary.threads_missed, 'thread')}, "
            f"{counted(summary.events_missed, 'call')}"
        )
    return lines


def _said(summary: Recorded, path: Path, sample_every: int) -> list[str]:
    from heapwise.document.folding import labelled
    from heapwise.wording.lists import counted
    from heapwise.wording.numbers import percent, show, size

    stored = path.stat().st_size
    took = show(summary.wall_s, "s")
    lines = [
        labelled(
            "Profiled ",
            f"{counted(summary.blocks, 'sample')}, one for each {size(sample_every)} on average, "
            f"in {took}",
        )
        if sample_every
        else labelled(
            "Recorded ",
            f"{counted(summary.events, 'call')} of {counted(summary.threads, 'thread')} in "
            f"{took}: {counted(summary.blocks, 'block')}, at most "
            f"{size(summary.peak_live_bytes)} at once",
        )
    ]
    if summary.kept_events < summary.events:
        lines.append(
            f"Kept     {percent(summary.kept_events / summary.events)} of the calls, in "
            f"{counted(summary.windows, 'window')}"
        )
    if summary.signal:
        lines.append(f"Ended    by signal {summary.signal}; the trace goes up to there")
    lines += _children(summary, sampled=bool(sample_every))
    lines += _missed(summary)
    lines.append(f"Saved    {path} ({size(stored)})    heapwise trace {path}")
    return lines
