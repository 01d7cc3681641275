"""``heapwise report``: one HTML file that shows one run or several."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.options import JsonOption, QuietOption, StoreOption
from heapwise.cli.frame.tell.console import Console, error_line, is_live
from heapwise.cli.frame.tell.written_files import unwritable, write_text
from heapwise.errors import Problem
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.store import Listing, StoredRun


def register(app: typer.Typer) -> None:
    app.command("report", short_help="Write one HTML file of one or more runs.")(report)


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...", autocompletion=completion.runs, help="Ids of runs. [the last]"
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All runs of the store.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write to this file. [beside the run]"),
    ] = None,
    open_: Annotated[
        str,
        typer.Option(
            "--open",
            metavar="yes|no|auto",
            help="Show it in a browser; auto does where there is a desktop.",
        ),
    ] = "auto",
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out host, user, paths and arguments.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the runs of the store.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write one HTML file that opens from disk and loads nothing from the network.

    \b
    heapwise report                          the last run
    heapwise report 7f3a 81c0 -o both.html   two runs in one file
    heapwise report 7f3a --redact            to give away, without host, user, paths and arguments
    """
    from heapwise.store import empty_store, find_store, list_runs, read_run

    if open_ not in ("yes", "no", "auto"):
        raise Problem("E003", f"--open {open_}: it is yes, no or auto", do="heapwise report --help")
    place, console = find_store(store), Console(quiet=quiet, as_json=as_json)
    found = list_runs(place) if list_ or every else []
    if list_:
        return _list(console, found)
    if every and not found:
        raise empty_store(place)
    if is_live(sys.stderr) and not (quiet or as_json):
        error_line(f"Reading {counted(len(found) if every else len(runs or [0]), 'run')} ...")
    wanted = (
        _readable(console, place, found)
        if every
        else [read_run(place, run) for run in runs or ["last"]]
    )
    if not wanted:
        raise Problem("E061", f"no run of {place} can be read")
    path = _prepare(output, place, wanted)
    _write(path, _page(wanted, redact), _mode(output))
    if as_json:
        console.json({"report": str(path), "runs": [stored.run.id for stored in wanted]})
    _show(path, open_)
    console.result(f"Report: {path}")
    return 0


def _readable(console: Console, store: Path, listed: list[Listing]) -> list[StoredRun]:
    """A damaged run among many is named, and does not hide the others."""
    from heapwise.store import read_run

    found = []
    for run in listed:
        try:
            found.append(read_run(store, str(run.folder)))
        except Problem as problem:
            console.say(f"left out: {problem.what}")
    return found


def _page(wanted: list[StoredRun], hide: bool) -> str:
    from heapwise.evidence import Evidence
    from heapwise.report import View, build_page, redact

    return build_page([View(Evidence(redact(stored) if hide else stored)) for stored in wanted])


def _list(console: Console, listed: list[Listing]) -> int:
    for damaged in (run for run in listed if run.problem):
        console.say(f"left out: {damaged.problem}")
    found = [run for run in listed if not run.problem]
    if console.as_json:
        console.json(
            [
                {
                    "id": run.id,
                    "created": run.created,
                    "kind": run.kind,
                    "state": run.shown_state,
                    "command_line": run.command_line,
                    "path": str(run.folder),
                }
                for run in found
            ]
        )
        return 0
    for run in found:
        what = " ".join(run.command) or " ".join(run.experiments)
        console.result(
            f"{run.id}  {run.created[:16].replace('T', ' ')}  {run.kind:8}"
            f"{run.shown_state:12}{what[:60]}"
        )
    if not found:
        console.result("The store is empty.")
    return 0


def _prepare(output: Path | None, store: Path, wanted: list[StoredRun]) -> Path:
    """The absolute path of the report; Problem E050 before any work when it cannot be written."""
    if output is not None:
        path = output
    elif len(wanted) == 1:
        path = wanted[0].path / "report.html"
    else:
        path = store / "report.html"
    path = path.absolute()
    if output is not None and _is_stream(path):
        return path
    try:
        # In the store a link was not put there by the user, and could lead anywhere.
        links = os.O_NOFOLLOW if output is None else 0
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | links, _mode(output)))
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def _is_stream(path: Path) -> bool:
    """A device or a pipe. Opening one just to see whether it can be opened could wait for ever."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode(output: Path | None) -> int:
    """In the store a report is as private as the run; elsewhere it is as private as other files."""
    return 0o600 if output is None else 0o666


def _write(path: Path, page: str, mode: int) -> None:
    """Beside it first, then renamed: an older report stays whole if this fails. A symbolic link
    stays one, and the file that it leads to is replaced. A device or a pipe is written to."""
    if _is_stream(path):
        write_text(path, page)
        return
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        created = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(created, "w", encoding="utf-8") as file:
            file.write(page)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise unwritable(path, error) from error


def _show(path: Path, wish: str) -> None:
    desktop = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if wish == "yes" or (wish == "auto" and desktop and os.isatty(1)):
        webbrowser.open(path.as_uri())
