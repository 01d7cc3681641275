"""The pages of the published reports that a store has runs of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.catalog import choose_published
from heapwise.cli.frame.tell.console import Console
from heapwise.cli.frame.tell.fewer_figures import refuse_fewer_figures
from heapwise.cli.frame.tell.one_machine import demand_one_machine
from heapwise.cli.frame.tell.written_files import write_files
from heapwise.errors import Problem
from heapwise.model import PublishedReport
from heapwise.store import StoredRun, list_runs, read_run
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.report import View
    from heapwise.study.reproduce.reproduced import Reproduced

VERB = "reproduce"


def write_results(
    store: Path,
    folder: Path,
    console: Console,
    *,
    name: str | None,
    runs: Sequence[str],
    smoke: bool,
    settings: list[str],
) -> int:
    """name: this report alone, and of an index that is there its line. runs: of this run, or of the
    quieter one of several for each experiment. Else the newest run of each report, smoke runs if
    ``smoke``. settings: of a run that was not made by this verb, instead of the report's. Problem
    E003 if there is none."""
    from heapwise.evidence import Evidence
    from heapwise.report import View, redact, results
    from heapwise.study.reproduce.ask import changes_of
    from heapwise.study.reproduce.reproduced import MeasuredRun, reproduce_from

    found = []
    others = [View(Evidence(redact(read_run(store, run)))) for run in runs[1:]]
    for report, stored in _chosen(store, name, runs[0] if runs else None, smoke):
        view = View(Evidence(redact(stored)))
        demand_one_machine([view.evidence, *(each.evidence for each in others)])
        measured = [MeasuredRun.of(each.evidence, each.result) for each in (view, *others)]
        changes = changes_of(report, stored.run.experiments, settings) if settings else None
        found.append((view, reproduce_from(measured, report, changes)))
    if not found:
        raise Problem(
            "E003",
            f"the store has no run of {name or 'a published report'} yet",
            do=f"heapwise reproduce {name or 'pool-vs-malloc'}",
        )
    files = results(found, with_index=name is None, others=others)
    if name is not None:
        files |= _changed_indexes(folder, found)
    refuse_fewer_figures(files, folder)
    write_files(files, folder)
    if console.as_json:
        console.json(
            {
                "folder": str(folder),
                "files": sorted(files),
                "runs": [{"report": each.report.name, "run": view.run.id} for view, each in found],
            }
        )
    for view, each in found:
        console.say(f"{each.report.name}: run {view.run.id}")
    console.result(f"Saved    {counted(len(files), 'file')} in {folder}")
    return 0


def _changed_indexes(folder: Path, found: Sequence[tuple[View, Reproduced]]) -> dict[str, str]:
    from heapwise.report import INDEX, folder_of, with_new_row

    changed = {}
    for view, each in found:
        index = f"{folder_of(view.run.machine)}/{INDEX}"
        if (folder / index).is_file():
            changed[index] = with_new_row((folder / index).read_text(), view, each)
    return changed


def _chosen(
    store: Path, name: str | None, run: str | None, smoke: bool
) -> list[tuple[PublishedReport, StoredRun]]:
    """One run for each page: the newest of each machine, of which a store can hold several."""
    if run is not None:
        stored = read_run(store, run)
        chosen = name or stored.run.plan.report
        return [(choose_published(chosen), stored)] if chosen else []
    from heapwise.report import folder_of

    found: dict[tuple[str, str], tuple[PublishedReport, StoredRun]] = {}
    wanted = choose_published(name).name if name else None
    for listing in reversed(list_runs(store)):
        if listing.problem or listing.smoke != smoke or VERB not in listing.command_line:
            continue
        stored = read_run(store, listing.id)
        try:
            report = choose_published(stored.run.plan.report)
        except Problem:
            continue
        page = folder_of(stored.run.machine), report.name
        if page not in found and wanted in (None, report.name):
            found[page] = report, stored
    return [found[page] for page in sorted(found)]
