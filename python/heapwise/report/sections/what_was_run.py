"""What was run, on what, with which builds."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

from msgspec import to_builtins

from heapwise.analysis.across_runs.recorded_facts import rounds
from heapwise.document import Code, Facts, Folded, Passage, TextOrCell, column_table, table_cell
from heapwise.model import Peer
from heapwise.report.pages.machine import machine_facts
from heapwise.report.view import View
from heapwise.wording.names import spaced

TITLE, ORDER = "What was run", 25


COLUMNS: dict[str, Callable[[Peer], TextOrCell]] = {
    "allocator": lambda peer: peer.title or peer.name,
    "version": lambda peer: peer.version,
    "build-id": lambda peer: table_cell(peer.build_id[:16], is_code=True),
    "library": lambda peer: table_cell(str(peer.path or "the system's own"), is_code=True),
}


def tell(view: View) -> list[Passage]:
    run = view.run
    order = f"{rounds(view.evidence)} rounds, random order, seed {run.plan.seed}"
    facts = [
        *(fact for fact in machine_facts(view) if fact[0] != "Allocators"),
        ("Host", f"{run.machine.user}@{run.machine.host}"),
        ("When", _when(run.created, run.finished)),
        ("Order", order),
    ]
    peers = [s.peer for s in run.plan.subjects if s.peer and not s.control]
    variables = "\n".join(f"{name}={value}" for name, value in sorted(run.plan.environment.items()))
    whole: list[Passage] = [Facts(_all_facts(view)), Code(variables, "environment")]
    return [
        Code(shlex.join(["heapwise", *(run.command_line[1:] or [run.plan.kind])])),
        Facts(facts),
        column_table(COLUMNS, peers),
        Folded("Machine and environment, in full", whole),
    ]


def _all_facts(view: View) -> list[tuple[str, str]]:
    machine, folder = view.run.machine, view.run.plan.working_directory
    found = [
        (name, value if isinstance(value, str) else json.dumps(value))
        for name, value in sorted(to_builtins(machine.facts).items())
        if value is not None
    ]
    found += [(name, f"not available: {why}") for name, why in machine.unavailable.items()]
    found += [("working directory", str(folder))] if folder else []
    return [(spaced(name), value) for name, value in found]


def _when(start: str, end: str) -> str:
    """``2026-01-02 03:04 to 03:09``: ISO 8601 as people write it."""
    day, clock = start[:10], start[11:16]
    if not end:
        return f"{day} {clock}"
    return f"{day} {clock} to {end[11:16] if end[:10] == day else f'{end[:10]} {end[11:16]}'}"
