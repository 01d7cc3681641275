"""Runs a campaign under the eyes of the user, and says how it ended."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.cli.frame.tell import progress
from heapwise.cli.frame.tell.console import Console, error_line
from heapwise.cli.frame.tell.ending import exit_code, rounds_words, saved_line, trust_line
from heapwise.cli.frame.tell.gated import export_gate
from heapwise.cli.frame.tell.hints import complete
from heapwise.errors import Exit, Problem
from heapwise.model import Result
from heapwise.runner import Campaign
from heapwise.store import read_run
from heapwise.wording.durations import show_limit
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.evidence import Evidence


@dataclass(frozen=True)
class Shown:
    """What the user saw of a run. code: of docs/exit-codes.md. result: None if the run has none, or
    is shown as a published report."""

    code: int
    result: Result | None = None


def conduct(
    campaign: Campaign,
    watcher: progress.NoProgress,
    console: Console,
    *,
    strict: bool = False,
    exports: Sequence[Path] = (),
) -> Shown:
    """Measures, prints the result or how to go on.

    strict: a result that is not trustworthy ends with another code than 0. exports: files that the
    result is written to.
    """
    try:
        run = campaign.go()
        _name_sites(campaign, console)
    except Problem as problem:
        watcher.end()
        campaign.writer.close()
        if campaign.processes:
            kept = counted(len(campaign.processes), "process", "processes")
            error_line(f"{kept} kept (run {campaign.run.id}).")
        raise problem
    finally:
        watcher.end()
        campaign.writer.close()
    for trouble in campaign.troubles:
        error_line(trouble)
    if run.state == "interrupted":
        return _stopped(campaign, console, exports)
    if run.plan.max_rounds and campaign.rounds_done < run.plan.max_rounds:
        console.say(
            f"Ended    after {campaign.rounds_done} of {run.plan.max_rounds} rounds: "
            f"{campaign.reason}"
        )
    return show(campaign.writer.folder, console, strict=strict, exports=exports)


def _name_sites(campaign: Campaign, console: Console) -> None:
    """Stores the call sites that allocate more, if an exact count of a gate says that the new build
    does."""
    run = campaign.run
    if not run.plan.limits or run.state != "complete":
        return
    from heapwise.evidence import Evidence
    from heapwise.study.gate.grown_sites import (
        MOST_S,
        grown_sites,
        growth_of,
        has_counts_of_malloc,
    )

    folder = campaign.writer.folder
    if has_counts_of_malloc(run.plan) and (
        growth := growth_of(Evidence(read_run(folder.parent.parent, str(folder))))
    ):
        console.say(
            "Recording each build once, to name the call sites that allocate more "
            f"(at most {show_limit(MOST_S)} each)."
        )
        campaign.writer.update(replace(run, grown=grown_sites(run, growth)))


def show(
    folder: Path,
    console: Console,
    *,
    saved: bool = True,
    strict: bool = False,
    exports: Sequence[Path] = (),
) -> Shown:
    """Analyses the stored run and prints it; the worst thing in it makes the exit code. A run of a
    published report is printed as that report."""
    from heapwise.analysis import analyse, to_json
    from heapwise.catalog import choose_published
    from heapwise.cli.frame.tell.reproduced import show_reproduced
    from heapwise.evidence import Evidence

    stored = read_run(folder.parent.parent, str(folder))
    if stored.damaged_lines:
        console.warn("W002", damaged_words(stored.damaged_lines))
    evidence = Evidence(stored)
    if (chosen := stored.run.plan.options.reproduction) is not None:
        report = choose_published(chosen.report)
        return Shown(
            show_reproduced(evidence, report, console, chosen.output, pdf=chosen.pdf, strict=strict)
        )
    try:
        result = analyse(evidence)
    except Exception:
        error_line(f"Everything that was measured is kept: run {stored.run.id}.")
        raise
    _print_result(result, evidence, console)
    if saved:
        console.result(complete(saved_line(result), folder))
    if console.as_json:
        console.json(to_json(result))
    if console.as_markdown:
        console.markdown(_pull_request(evidence))
    if result.gate is not None:
        export_gate(result.gate, exports)
    elif exports:
        _export(evidence, exports, console)
    return Shown(exit_code(result, stored.processes, strict=strict), result)


def _export(evidence: Evidence, exports: Sequence[Path], console: Console) -> None:
    from heapwise.cli.frame.tell.exports import write_exports

    console.say(f"Written  {', '.join(write_exports(evidence, exports))}")


def _pull_request(evidence: Evidence) -> str:
    from heapwise.report import View
    from heapwise.report.formats.pull_request import write

    return write(View(evidence))


def damaged_words(lines: int) -> str:
    return f"{lines} damaged sample line{' was' if lines == 1 else 's were'} skipped."


def _print_result(result: Result, evidence: Evidence, console: Console) -> None:
    from heapwise.document import Labelled, Sentence
    from heapwise.document.terminal import UNFOLDED, terminal
    from heapwise.study.program.compare_table import terminal_width
    from heapwise.study.told import tell

    passages = [
        replace(passage, text=complete(passage.text, evidence.stored.path))
        if isinstance(passage, (Labelled, Sentence))
        else passage
        for passage in (*tell(result, evidence), Labelled("Trust", trust_line(result)))
    ]
    console.say()
    console.result(terminal(passages, terminal_width() if sys.stdout.isatty() else UNFOLDED))


def _stopped(campaign: Campaign, console: Console, exports: Sequence[Path] = ()) -> Shown:
    """What is known by then, what was kept, and how to go on with it."""
    run = campaign.run
    warm = run.plan.warm_up_rounds
    measured = {p.round for p in campaign.processes if not p.warm_up}
    kept = len(campaign.processes)
    done = max(measured) - warm + 1 if measured else 0
    words = (
        f"stopped by you after {rounds_words(done, run.plan.max_rounds)}. "
        f"{counted(kept, 'process', 'processes')} kept (run {run.id}).   go on: heapwise "
        f"resume {run.id}"
    )
    result = None
    if done and run.plan.traits.shown_early:
        result = show(campaign.writer.folder, console, saved=False, exports=exports).result
    elif console.as_json:
        console.json({"run": run, "state": run.state, "kept": kept})
    error_line(complete(words, campaign.writer.folder))
    return Shown(int(Exit.INTERRUPTED), result)
