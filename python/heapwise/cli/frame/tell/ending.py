"""The lines at the end of a run: trust, where it is saved, and the exit code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from heapwise.cli.frame.ask.shell_words import pasted
from heapwise.cli.frame.tell.console import error_line
from heapwise.errors import Exit
from heapwise.model import Process, Result, SubjectName
from heapwise.wording.lists import counted

PROGRAM_FAILED = ("crashed", "failed", "timed_out", "output_differs")

UNVERIFIED = " (unverified: heapwise selftest)"


def trust_line(result: Result) -> str:
    """The verdict, what speaks against it, and whether the laboratory was tested here."""
    words = _trust_words(result)
    return words if result.trust.verified else f"{words}{UNVERIFIED}"


def _trust_words(result: Result) -> str:
    trust = result.trust
    against = [c for c in trust.checks if c.verdict == "fail"] or [
        c for c in trust.checks if c.verdict == "warn"
    ]
    if against:
        first, others = against[0], [check.id for check in against[1:]]
        more = f" Also {', '.join(others)}: heapwise report {result.run.id}" if others else ""
        return f"{trust.verdict}: {first.id} {first.detail.rstrip('.')}.{more}"
    passed = sum(check.verdict == "pass" for check in trust.checks)
    rounds = max((row.n for row in result.rows), default=0)
    words = [f"{rounds} paired rounds"] if result.run.plan.traits.repeated == "round" else []
    words.append(f"{passed} checks passed")
    return f"{trust.verdict}: " + ", ".join(words)


def saved_line(result: Result) -> str:
    run = result.run
    parts = [f"run {run.id}", f"heapwise report {run.id}"]
    best = best_peer(result)
    if best:
        command = pasted(run.plan.options.as_typed or run.plan.command)
        parts.append(f"use it: LD_PRELOAD=$(heapwise peers path {best}) {command}")
    return "Saved    " + "  .  ".join(parts)


def best_peer(result: Result) -> str:
    """The subject that is proven fastest, if it can be preloaded."""
    peers = {s.name: s.peer for s in result.run.plan.subjects}
    from heapwise.analysis.summary.speed import speed_quantity

    speed = speed_quantity(result.rows)
    better = [
        row
        for row in result.rows
        if row.quantity == speed and row.verdict == "better" and row.ratio is not None
    ]
    several = len(result.run.plan.builds) > 1
    if not result.run.plan.traits.whole_programs or not better or several:
        return ""
    name = min(better, key=lambda row: row.ratio or 1.0).subject
    peer: Any = peers.get(name)
    return name if peer is not None and peer.path and not peer.is_given_by_path else ""


def exit_code(result: Result, processes: list[Process], *, strict: bool = False) -> int:
    """0 when it was measured, however it came out; 4 only for a user who asked for it."""
    from heapwise.evidence.failures_beside import failures_beside

    beside = {process.number: process for process in failures_beside(processes)}
    processes = [beside.get(process.number, process) for process in processes]
    controls = {subject.name for subject in result.run.plan.subjects if subject.control}
    failed = _failing(processes, controls)
    if failed:
        for program, its in failed.items():
            process = [p for p in its if p.status in PROGRAM_FAILED][-1]
            error_line(f"{program}, {_how_often(process, its)}: {process.reason}")
            if words := (process.facts.stderr_tail or "").strip():
                error_line("\n".join(f"    {line}" for line in words.splitlines()[-5:]))
        return int(Exit.PROGRAM_FAILED)
    if result.gate is not None:
        return result.gate.exit_code
    if strict and result.trust.verdict == "not trustworthy":
        return int(Exit.NOT_TRUSTWORTHY)
    return int(Exit.DONE)


def _failing(processes: Sequence[Process], controls: Collection[str]) -> dict[str, list[Process]]:
    """``need with n=200`` -> its processes. Both labels of a baseline are one program; the settings
    are named if it did not fail at all of them."""
    by_name: dict[str, list[Process]] = defaultdict(list)
    for process in processes:
        name = process.subject
        by_name[SubjectName.parse(name).measured if name in controls else name].append(process)
    found: dict[str, list[Process]] = {}
    for name, its in by_name.items():
        setups = dict.fromkeys(p.setup for p in its if p.status in PROGRAM_FAILED)
        if setups.keys() == {p.setup for p in its}:
            found[name] = its
            continue
        for setup in setups:
            words = f"{name} with {setup[1]}" if setup[1] else name
            found[words] = [p for p in its if p.setup == setup]
    return found


def _how_often(failed: Process, processes: Sequence[Process]) -> str:
    """Counts the timed processes, as everywhere; all of them if others failed, too."""
    from heapwise.evidence.kept import timed

    alike = [p for p in processes if p.status == failed.status]
    if all(map(timed, alike)):
        processes = [p for p in processes if timed(p)]
    return f"{len(alike)} of {len(processes)} times"


def rounds_words(done: int, planned: int) -> str:
    """done: rounds that were begun. planned: 0 if there was no limit."""
    if not planned:
        return counted(done, "round")
    if done <= planned:
        return f"{done} of {planned} rounds"
    return (
        f"{counted(done, 'round')}, {done - planned} of them in place of samples that do not count"
    )
