"""Which call sites of a new build allocate more than those of its base: each is recorded once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from heapwise.errors import Problem
from heapwise.evidence.judged_limits import OF_MALLOC
from heapwise.model import Build, GateResult
from heapwise.runner import Prepared
from heapwise.trace.named_trace import NamedTrace, read_named_trace
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.trace_difference import SiteDifference, trace_difference

MOST_S = 60.0
"""A recording that takes longer is given up: the answer of the gate is known without it."""

MOST_SITES = 3
"""The sites that a gate names."""


def asks_for_sites(gate: GateResult, prepared: Prepared) -> bool:
    """Whether an exact count of malloc grew beyond its limit, and the builds can be recorded: they
    have no commands around them, which the recordings would need, too."""
    builds = [one.build for one in prepared.examined]
    if any(each.prepare or each.conclude or each.setup or each.cleanup for each in builds):
        return False
    return any(
        row.exact and row.verdict == "regressed" and row.metric in OF_MALLOC for row in gate.rows
    )


def grown_sites(prepared: Prepared) -> list[SiteDifference] | None:
    """Those with the most additional blocks first, then by bytes. None if one of the builds cannot
    be recorded within MOST_S."""
    traces: list[NamedTrace] = []
    with TemporaryDirectory(prefix="heapwise-gate-") as folder:
        for number, build in enumerate(one.build for one in prepared.examined):
            file = Path(folder, f"{number}.hwt")
            try:
                _record(build, prepared.plan.input_path, file)
                traces.append(read_named_trace(file, Wrappers()))
            except (subprocess.TimeoutExpired, OSError, Problem):
                return None
    [before, after] = traces
    found = trace_difference(
        ("base", "new"), before.sites, after.sites, (before.program, after.program)
    )
    more = [each for each in found.sites if each.grown.blocks > 0 or each.grown.bytes > 0]
    more.sort(key=lambda each: (-each.grown.blocks, -each.grown.bytes, each.name))
    return more[:MOST_SITES]


def _record(build: Build, input_path: str | None, file: Path) -> None:
    """A process of its own: the output of the program is not that of the gate."""
    with Path(input_path or "/dev/null").open("rb") as stream:
        quiet = ["record", "--quiet", "--stacks", "16", "-o", str(file)]
        subprocess.run(
            [sys.executable, "-m", "heapwise", *quiet, "--", *build.command],
            env={**os.environ, **build.environment},
            stdin=stream,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=MOST_S,
            check=False,
        )
