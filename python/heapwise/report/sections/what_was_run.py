"""What was run, on what, with which builds."""

from __future__ import annotations

import json
import shlex

from msgspec import to_builtins

from heapwise.analysis.across_runs.recorded_facts import rounds
from heapwise.model import Run
from heapwise.report.context import Context
from heapwise.report.view import View
from heapwise.wording.numbers import size

TITLE, ORDER = "What was run", 25


def build(view: View) -> Context | None:
    run = view.run
    machine = run.machine
    return {
        "run": run,
        "command": shlex.join(["heapwise", *(run.command_line[1:] or [run.plan.kind])]),
        "program": _programs(run),
        "facts": _facts(view),
        "memory": size(machine.memory_bytes),
        "peers": [s.peer for s in run.plan.subjects if s.peer and not s.control],
        "machine_facts": [
            (k, v if isinstance(v, str) else json.dumps(v))
            for k, v in sorted(to_builtins(machine.facts).items())
            if v is not None
        ],
        "when": _when(run.created, run.finished),
        "rounds": rounds(view.evidence),
    }


def _programs(run: Run) -> str:
    if len(run.plan.builds) < 2:
        return shlex.join(run.plan.command)
    return "; ".join(f"{build.name}: {shlex.join(build.command)}" for build in run.plan.builds)


def _when(start: str, end: str) -> str:
    """``2026-01-02 03:04 to 03:09``: ISO 8601 as people write it."""
    day, clock = start[:10], start[11:16]
    if not end:
        return f"{day} {clock}"
    return f"{day} {clock} to {end[11:16] if end[:10] == day else f'{end[:10]} {end[11:16]}'}"


def _facts(view: View) -> list[tuple[str, str]]:
    machine = view.run.machine
    caches = ", ".join(f"{name} {size(bytes_)}" for name, bytes_ in machine.caches.items())
    found = [
        ("Processor", f"{machine.cpu}, {machine.cores} cores"),
        ("Caches", caches),
        ("Memory", f"{size(machine.memory_bytes)}, pages of {size(machine.page_bytes)}"),
        ("System", f"{machine.distribution}, {machine.kernel}, {machine.libc}"),
        ("Host", f"{machine.user}@{machine.host}"),
        ("Compiler", "; ".join(map(str, view.builds))),
    ]
    return [(name, value) for name, value in found if value]
