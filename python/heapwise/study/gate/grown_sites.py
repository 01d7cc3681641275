"""Which call sites of a new build allocate more than those of its base: each is recorded once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from heapwise.catalog import git
from heapwise.errors import Problem
from heapwise.evidence import Evidence
from heapwise.evidence.judged_limits import OF_MALLOC, judge_limits
from heapwise.model import Build, GrownSite, GrownSites, Plan, Run
from heapwise.trace.named_trace import NamedTrace, read_named_trace
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.trace_difference import Amount, SiteDifference, trace_difference

MOST_S = 60.0
"""A recording that takes longer is given up: the answer of the gate is known without it."""

MOST_SITES = 3
"""The sites that a gate names."""

NOT_RECORDED = "one of the builds could not be recorded"


def has_counts_of_malloc(plan: Plan) -> bool:
    """Whether a gate limits them, and its builds can be recorded: they have no commands around
    them, which the recordings would need, too."""
    commands = (
        command
        for build in plan.builds
        for command in (build.prepare, build.conclude, build.setup, build.cleanup)
    )
    return bool(OF_MALLOC & plan.limits.keys()) and not any(commands)


def growth_of(evidence: Evidence) -> dict[str, int]:
    """Metric of malloc -> how much more of it the new build has, if an exact count of it grew
    beyond its limit."""
    if evidence.stored.run.plan.uneven:
        return {}
    return {
        one.metric: one.counts[1][0] - one.counts[0][0]
        for one in judge_limits(evidence, ended=True)
        if one.metric in OF_MALLOC
        and one.decision.verdict == "regressed"
        and one.counts
        and all(len({*counts}) == 1 for counts in one.counts)
    }


def grown_sites(run: Run, growth: Mapping[str, int]) -> GrownSites:
    """Those with the most additional blocks first, or bytes if only these grew, until they make up
    the growth: what is left is then a difference between two recordings of one build. None of them
    if one of the builds cannot be recorded within MOST_S, or if the user stops it."""
    traces: list[NamedTrace] = []
    with TemporaryDirectory(prefix="heapwise-gate-") as folder:
        for number, build in enumerate(run.plan.builds):
            file = Path(folder, f"{number}.hwt")
            try:
                _record(build, run.plan.input_path, file)
                traces.append(read_named_trace(file, Wrappers()))
            except (subprocess.TimeoutExpired, OSError, Problem):
                return GrownSites(unknown=NOT_RECORDED)
            except KeyboardInterrupt:
                return GrownSites(unknown="you stopped their recording")
    [before, after] = traces
    found = trace_difference(
        ("base", "new"), before.sites, after.sites, (before.program, after.program)
    )
    more = [each for each in found.sites if each.grown.blocks > 0 or each.grown.bytes > 0]
    by_blocks = "allocations" in growth
    more.sort(key=lambda each: (_order(each.grown, by_blocks=by_blocks), each.name))
    top = run.revision.top if run.revision else ""
    return GrownSites([_named(each, top) for each in _telling(more, growth)[:MOST_SITES]])


def _order(grown: Amount, *, by_blocks: bool) -> tuple[int, int]:
    return (-grown.blocks, -grown.bytes) if by_blocks else (-grown.bytes, -grown.blocks)


def _telling(sites: Sequence[SiteDifference], growth: Mapping[str, int]) -> list[SiteDifference]:
    """The first ones that together have what grew."""
    found: list[SiteDifference] = []
    left = [growth.get("allocations", 0), growth.get("allocated_bytes", 0)]
    for site in sites:
        if max(left) <= 0:
            break
        found.append(site)
        left = [left[0] - site.grown.blocks, left[1] - site.grown.bytes]
    return found


def _named(site: SiteDifference, top: str) -> GrownSite:
    name, _, line = site.line.rpartition(":")
    file = _only_file(name, top) if name and line.isdigit() else ""
    return GrownSite(
        site.name,
        site.grown.blocks,
        site.grown.bytes,
        site.estimated,
        file,
        int(line) if file else 0,
    )


def _only_file(name: str, top: str) -> str:
    """The path in the repository of the file of this name; "" if there is none, or more than one:
    a trace has the name alone."""
    if not top or any(mark in name for mark in "*?[\\"):
        return ""
    words = ("ls-files", "-z", "--recurse-submodules", "--", f":(top,glob)**/{name}")
    found = (git(Path(top), *words) or "").split("\0")
    paths = [path for path in found if path]
    return paths[0] if len(paths) == 1 else ""


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
