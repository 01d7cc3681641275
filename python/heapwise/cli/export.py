"""``heapwise export``: a run in the form that another tool reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.options import StoreOption
from heapwise.cli.frame.tell.fewer_figures import refuse_smaller_pages
from heapwise.cli.frame.tell.written_files import unwritable, write_files
from heapwise.errors import Problem
from heapwise.wording.lists import counted
from heapwise.wording.visible import visible

if TYPE_CHECKING:
    from heapwise.store import StoredRun

PAGES = "pages"
"""No format of one file: a page and a picture for each experiment."""


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", autocompletion=completion.runs, help="A run's id.")
    ] = "last",
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="csv, json, markdown, pull-request, allocatorbench, binary-trees, pool-vs-malloc, "
            "hyperfine, google-benchmark, bencher, or pages (into a "
            "folder).",
        ),
    ] = "csv",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Write to this file, or pages to this folder. [stdout]",
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave out host, user, paths and arguments.")
    ] = False,
    store: StoreOption = None,
) -> int:
    """Write a run's figures in the form that another tool reads.

    \b
    heapwise export last --format csv -o result.csv    one line per row, samples included
    heapwise export 7f3a --format allocatorbench       raw timing data, one line per repeat
    heapwise export 7f3a --format markdown             tables for a ticket
    heapwise export 7f3a --format hyperfine            what hyperfine --export-json writes
    heapwise export 7f3a --format pages -o pages       a page and a picture for each experiment
    """
    from heapwise.evidence import Evidence
    from heapwise.report import View
    from heapwise.report import redact as without_names
    from heapwise.report.formats import find_formats
    from heapwise.store import find_store, read_run
    from heapwise.wording.suggest import did_you_mean

    formats = find_formats()
    names = [*formats, PAGES]
    if format not in names:
        listed = ", ".join(names)
        raise Problem(
            "E003",
            f"no format '{format}'{did_you_mean(format, names, f'there are {listed}')}",
            do="heapwise export --help",
        )
    stored = read_run(find_store(store), run)
    if format == PAGES:
        return _pages(without_names(stored) if redact else stored, output)
    file = _open(output) if output else None
    if redact:
        stored = without_names(stored)
    text: str = formats[format].write(View(Evidence(stored)))
    if file is None:
        typer.echo(visible(text) if sys.stdout.isatty() else text, nl=False)
    else:
        with file:
            file.write(text)
        typer.echo(f"Saved {output}", err=True)
    return 0


def _pages(stored: StoredRun, folder: Path | None) -> int:
    from heapwise.evidence import Evidence
    from heapwise.report import View, pages

    if folder is None:
        raise Problem(
            "E003",
            "pages are many files: --output says in which folder",
            do="heapwise export RUN --format pages --output FOLDER",
        )
    files = pages(View(Evidence(stored)))
    if not files:
        raise Problem(
            "E003",
            f"run {stored.run.id} has no experiments: pages are theirs",
            why="It is a comparison of programs, and nothing was written.",
            do="heapwise export RUN --format json, or heapwise run all",
        )
    refuse_smaller_pages(files, folder)
    write_files(files, folder)
    typer.echo(f"Saved {counted(len(files), 'file')} in {folder}", err=True)
    return 0


def _open(path: Path) -> TextIO:
    """Before the work, so that a folder that cannot be written is found at once."""
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from error
