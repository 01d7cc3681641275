"""Runs a campaign under the eyes of the user, and says how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.cli.frame import progress
from heapwise.cli.frame.console import Console, error_line, labelled
from heapwise.cli.frame.ending import exit_code, rounds_words, saved_line, trust_line
from heapwise.cli.frame.gated import export_gate, show_gate
from heapwise.cli.frame.hints import complete
from heapwise.errors import Exit, Problem
from heapwise.model import SIDE_BY_SIDE, Finding, Result
from heapwise.runner import Campaign
from heapwise.store import read_run
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent

if TYPE_CHECKING:
    from heapwise.evidence import Evidence

MANY_ROWS = 400
"""More are no longer read on a terminal."""

MANY_FINDINGS = 24
"""More sentences neither: then each experiment has one, and the report has all."""


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
    from heapwise.cli.frame.reproduced import show_reproduced
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
    if result.gate is not None:
        export_gate(result.gate, exports)
    elif exports:
        _export(evidence, exports, console)
    return Shown(exit_code(result, stored.processes, strict=strict), result)


def _export(evidence: Evidence, exports: Sequence[Path], console: Console) -> None:
    from heapwise.cli.frame.exports import write_exports

    console.say(f"Written  {', '.join(write_exports(evidence, exports))}")


def damaged_words(lines: int) -> str:
    return f"{lines} damaged sample line{' was' if lines == 1 else 's were'} skipped."


def _print_result(result: Result, evidence: Evidence, console: Console) -> None:
    compare = result.run.plan.kind == "compare"
    console.say()
    if result.gate is not None:
        show_gate(result.gate, console)
        console.result(labelled("Trust    ", complete(trust_line(result), evidence.stored.path)))
        return
    advice = labelled("Advice   ", complete(result.advice, evidence.stored.path))
    replay = result.run.plan.options.replay
    is_first = replay is not None and bool(replay.candidates)
    if is_first:
        console.result(advice)
        _print_headlines(result, console)
        console.result("")
    console.result(complete(_tables(result, evidence), evidence.stored.path))
    console.result("")
    if not compare:
        _print_experiments(result, console)
    if not compare and not is_first:
        _print_headlines(result, console)
    if not is_first:
        console.result(advice)
    if compare and result.noise_floor is not None:
        beside = [f for cell, f in evidence.floors.items() if cell.quantity == SIDE_BY_SIDE]
        floor = f"±{percent(result.noise_floor)} (A/A)"
        if beside:
            floor += f" in time, ±{percent(max(beside))} in CPU time side by side"
        console.result(f"Noise    {floor}: smaller differences cannot be told")
    console.result(labelled("Trust    ", complete(trust_line(result), evidence.stored.path)))


def _print_headlines(result: Result, console: Console) -> None:
    for headline in result.headlines:
        console.result(f"         {headline}")


def _print_experiments(result: Result, console: Console) -> None:
    """What each experiment found and expected, and the least that it could have found."""
    from heapwise.analysis import detectable_line, expected_line

    lines = [
        finding.sentence
        if len(result.run.experiments) == 1
        else f"{finding.experiment}: {finding.sentence}"
        for finding in told(result)
    ]
    for place, line in enumerate(lines):
        console.result(f"{'Verdict' if place == 0 else '':9}{line}")
    for place, expected in enumerate([] if result.run.plan.smoke else result.expectations):
        console.result(f"{'Expected' if place == 0 else '':9}{expected_line(expected)}")
    if line := detectable_line(result.detectable):
        console.result(labelled("Detects  ", f"a difference of: {line}"))


def told(result: Result) -> list[Finding]:
    """All of them, or of each experiment the one that says most, where they would be too many."""
    from heapwise.analysis import headline
    from heapwise.model import ATTACKS
    from heapwise.study.server.server_tables import HEADLINES

    if result.run.plan.options.server is not None:
        return [finding for finding in result.findings if finding.cell.quantity in HEADLINES]
    ranked = [e for e in result.run.experiments if e.family != ATTACKS]
    findings = (
        [f for f in result.findings if f.experiment in {e.id for e in ranked}]
        if len(ranked) < len(result.run.experiments)
        else result.findings
    )
    if len(findings) <= MANY_FINDINGS:
        return findings
    found = [
        headline([f for f in findings if f.experiment == e.id], e.quantities[0].name)
        for e in ranked
    ]
    return [finding for finding in found if finding is not None]


def _tables(result: Result, evidence: Evidence) -> str:
    """Every figure as text, or, where that would fill many screens, which are behind the best."""
    from heapwise.document.terminal import terminal
    from heapwise.model import ATTACKS
    from heapwise.study.attacks.tell import attack_passages
    from heapwise.study.experiments.cell_tables import experiment_tables
    from heapwise.study.experiments.standing_tables import standing_tables
    from heapwise.study.program.compare_table import compare_table
    from heapwise.study.server.server_tables import growth_table, server_tables
    from heapwise.study.server.tell import window_passages
    from heapwise.study.trees.program_tables import program_tables

    if result.run.plan.kind == "compare":
        return _joined(compare_table(result), growth_table(evidence))
    if result.run.plan.options.server is not None:
        return _joined(
            server_tables(result), terminal(window_passages(evidence)), growth_table(evidence)
        )
    programs = [e for e in result.run.experiments if e.is_of_programs]
    parts = [program_tables(experiment, result) for experiment in programs]
    parts += [text] if (text := terminal(attack_passages(result))) else []
    ids = {
        experiment.id
        for experiment in result.run.experiments
        if experiment in programs or experiment.family == ATTACKS
    }
    others = [row for row in result.rows if row.experiment not in ids]
    if others and (result.run.plan.smoke or len(others) <= MANY_ROWS):
        parts.append(experiment_tables(replace(result, rows=others)))
    elif others:
        parts.append(
            f"{standing_tables(evidence)}\n\n{len(result.rows):,} rows with all their figures: "
            f"heapwise report {result.run.id}, or heapwise export {result.run.id}"
        )
    return "\n\n".join(parts)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


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
    if done and run.plan.kind == "compare":
        result = show(campaign.writer.folder, console, saved=False, exports=exports).result
    elif console.as_json:
        console.json({"run": run, "state": run.state, "kept": kept})
    error_line(complete(words, campaign.writer.folder))
    return Shown(int(Exit.INTERRUPTED), result)
