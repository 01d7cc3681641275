"""``heapwise diff``: two stored runs beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.limit_form import parse_limits
from heapwise.cli.frame.ask.options import JsonOption, QuietOption, StoreOption, StrictOption
from heapwise.cli.frame.tell.console import Console, labelled
from heapwise.errors import Problem

if TYPE_CHECKING:
    from heapwise.model import Cell, Difference, DifferenceRow

SHOWN = 60
"""Rows that are read on a terminal."""


def register(app: typer.Typer) -> None:
    app.command("diff", short_help="Show how two stored runs differ.")(diff)


def diff(
    first: Annotated[
        str, typer.Argument(metavar="RUN", autocompletion=completion.runs, help="A run or a file.")
    ],
    second: Annotated[
        str,
        typer.Argument(
            metavar="RUN", autocompletion=completion.runs, help="A later run, last, or a file."
        ),
    ],
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=N%",
            help="Judge how much more the second run may need, as heapwise gate does; repeatable.",
        ),
    ] = None,
    export: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Write what the limits say to a .md, .xml, .sarif ..."),
    ] = None,
    strict: StrictOption = False,
) -> int:
    """Show how the figures of two stored runs differ, or of two files of hyperfine.

    \b
    heapwise diff 7f3a 81c0
    heapwise diff last~1 last
    heapwise diff 7f3a last --json
    heapwise diff last~1 last --limit time=5% --limit allocations=0
    heapwise diff monday.json tuesday.json     two files of hyperfine --export-json

    The runs were not measured side by side, so this is weaker than heapwise compare --build.
    Subjects are compared relative to the baseline if that is the same in both runs. Other figures
    have a verdict if four runs of the store say how much runs differ. If machine, version or work
    differ, figures are shown without a verdict but with the reason. With --limit the exit codes
    are those of heapwise gate.
    """
    from heapwise.analysis.as_json import flat
    from heapwise.store.hyperfine_file import is_hyperfine_file

    is_gate = bool(limit or export or strict)
    limits = parse_limits(limit or []) if is_gate else {}
    files = [is_hyperfine_file(name) for name in (first, second)]
    if any(files):
        found = _of_files(first, second, both=all(files))
    else:
        found = _of_runs(first, second, store)
    console = Console(quiet, json)
    if is_gate:
        if any(files):
            raise Problem("E003", "--limit is for stored runs, and files of hyperfine have none")
        return _judge(found, (first, second), store, limits, export or [], strict, console)
    if json:
        console.json(flat(found, "rows"))
        return 0
    _show(found, console)
    return 0


def _of_runs(first: str, second: str, store: str | None) -> Difference:
    from dataclasses import replace

    from heapwise.analysis.across_runs.difference import difference
    from heapwise.analysis.across_runs.runs_like import relative_spreads, spreads
    from heapwise.evidence import Evidence
    from heapwise.store import find_store, points_of, read_points, read_run

    place = find_store(store)
    one, other = (Evidence(read_run(place, id)) for id in (first, second))
    like, known = points_of(one.stored), read_points(place)
    found = difference(one, other, spreads(like, known), relative_spreads(like, known))
    if found.first != found.second:
        return found
    return replace(found, notes=[*found.notes, f"both names are of one run, {found.first}"])


def _judge(
    found: Difference,
    names: tuple[str, str],
    store: str | None,
    limits: dict[str, float],
    export: list[Path],
    strict: bool,
    console: Console,
) -> int:
    from heapwise.analysis.across_runs.difference_gate import difference_gate
    from heapwise.cli.frame.tell.gated import demand_exports, export_gate
    from heapwise.document.terminal import terminal
    from heapwise.evidence import Evidence
    from heapwise.store import find_store, read_run
    from heapwise.study.gate.tell import gate_sentences

    demand_exports(export)
    place = find_store(store)
    one, other = (Evidence(read_run(place, id)) for id in names)
    result = difference_gate(found, (one, other), limits, strict=strict)
    console.say(f"Runs     {found.first} and {found.second}")
    for note in found.notes:
        console.say(labelled("Note     ", f"{note}."))
    console.result(terminal(gate_sentences(result)))
    export_gate(result, export)
    if console.as_json:
        console.json({"gate": result})
    return result.exit_code


def _of_files(first: str, second: str, *, both: bool) -> Difference:
    """Problem E003 for one file beside a run."""
    from heapwise.analysis.across_runs.hyperfine_difference import hyperfine_difference
    from heapwise.store.hyperfine_file import read_hyperfine_file

    if not both:
        raise Problem(
            "E003",
            f"{first} and {second} are not two files of hyperfine",
            do="write the run as such a file: heapwise export RUN -f hyperfine -o run.json",
        )
    one, other = ((name, read_hyperfine_file(Path(name))) for name in (first, second))
    return hyperfine_difference(one, other)


def _show(found: Difference, console: Console) -> None:
    from heapwise.analysis.across_runs.difference import LIMITATION
    from heapwise.document.aligned import align
    from heapwise.wording.lists import listed

    console.say(f"Runs     {found.first} and {found.second}")
    if found.reasons:
        console.result(labelled("Verdict  ", f"none: {listed(found.reasons, 9)}."))
    for note in found.notes:
        console.result(labelled("Note     ", f"{note}."))
    if not found.rows:
        console.result("The runs have no subject of the same experiment in common.")
        return
    console.result("")
    for cell, rows in _by_cell(found).items():
        console.result(f"{_title(cell)}\n{align(_table(found, rows))}\n")
    if len(found.rows) > SHOWN:
        console.result(f"{len(found.rows) - SHOWN:,} more rows: --json")
    if not found.reasons:
        console.result(labelled("Unpaired ", LIMITATION))


def _by_cell(found: Difference) -> dict[Cell, list[DifferenceRow]]:
    groups: dict[Cell, list[DifferenceRow]] = {}
    for row in found.rows[:SHOWN]:
        groups.setdefault(row.cell, []).append(row)
    return groups


def _title(cell: Cell) -> str:
    from heapwise.wording.names import cell_words, quantity_name

    settings = cell_words(cell.parameters)
    return f"{cell.experiment}: {quantity_name(cell.quantity)}{', ' if settings else ''}{settings}"


def _table(found: Difference, rows: list[DifferenceRow]) -> list[list[str]]:
    from heapwise.wording.numbers import scale_for, times
    from heapwise.wording.ratios import signed_ends

    scale = scale_for([value for row in rows for value in (row.first, row.second)], rows[0].unit)
    head = ["", found.first, found.second, "second / first"]
    lines = [head if found.reasons else [*head, "unpaired 95 % CI", ""]]
    for row in rows:
        words = [
            row.subject,
            scale.text(row.first),
            scale.text(row.second),
            "-" if row.ratio is None else times(row.ratio),
        ]
        if not found.reasons:
            words += [
                "-" if row.low is None or row.high is None else signed_ends(row.low, row.high),
                "" if row.verdict == "none" else row.verdict,
            ]
        lines.append(words)
    return lines
