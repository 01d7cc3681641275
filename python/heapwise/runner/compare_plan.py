"""From what the user asked of ``compare`` to a plan, before anything is run."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.catalog import SYSTEM, choose_peers, examined, find_peers
from heapwise.errors import Problem
from heapwise.model import Experiment, Peer, Plan, PlanOptions, Subject
from heapwise.runner.environment import cleaned, to_store
from heapwise.runner.preflight import Preflight, preflight
from heapwise.runner.program import EXPERIMENT_ID, experiment_of
from heapwise.runner.steps import control_of
from heapwise.stats.holm import rounds_needed

DEFAULT_TIME_S = 180.0
PRECISION = 0.01
OWN = "own"
"""The name of the row of a program that, by --force, is measured with its own allocator."""


@dataclass(frozen=True)
class CompareRequest:
    """The options of ``compare``, checked one by one but not yet against the machine."""

    command: Sequence[str]
    allocators: Sequence[str] = ()
    adhoc: Sequence[str] = ()
    baseline: str = ""
    runs: int | None = None
    time_s: float | None = None
    precision: float = PRECISION
    warm_up: int = 1
    input_path: str | None = None
    timeout_s: float = 0.0
    seed: int | None = None
    cpus: Sequence[int] = ()
    force: bool = False
    keep_environment: bool = False
    ignore_output: bool = False
    allow_background: bool = False
    output_files: Sequence[str] = ()
    check: str = ""


@dataclass(frozen=True)
class Prepared:
    """A plan and all that had to be found out for it. ``environment`` is not to be stored."""

    plan: Plan
    experiments: list[Experiment]
    environment: dict[str, str]
    removed: list[str] = field(default_factory=list)
    missing: list[Peer] = field(default_factory=list)
    excluded: list[Peer] = field(default_factory=list)
    preflight: Preflight | None = None


def prepare_compare(request: CompareRequest, environment: Mapping[str, str]) -> Prepared:
    """Problems: E010, E02x of the program; E002, E003, E053 of the allocators."""
    found = preflight(request.command[0], force=request.force)
    names = list(dict.fromkeys([*request.allocators, *([request.baseline] * bool(
        request.allocators and request.baseline))]))
    present, missing = choose_peers(names, request.adhoc)
    kept = [peer for peer in present if not peer.debug_build or peer.name in names
            or _given_by_path(peer)]
    subjects = _subjects(kept, request, found.own_allocator)
    left, removed = cleaned(environment, [*find_peers(), *kept], keep=request.keep_environment)
    plan = _plan(request, found, subjects, to_store(left, [*find_peers(), *kept]), removed)
    return Prepared(
        plan, [experiment_of(plan.command, subjects)], left, removed, missing,
        [peer for peer in present if peer not in kept], found,
    )


def _given_by_path(peer: Peer) -> bool:
    return peer.notes == "given by path"


def _subjects(peers: list[Peer], request: CompareRequest, own: bool) -> list[Subject]:
    """The baseline, its second label, then the others in the order of their names."""
    by_name = {peer.name: peer for peer in peers}
    baseline = request.baseline or (OWN if own else SYSTEM)
    if baseline == OWN and not own:
        raise Problem("E002", "--baseline own: the program has no allocator of its own",
                      do="leave --baseline out, or name a peer of heapwise peers list")
    if baseline == OWN:
        first = Subject(OWN, "the program's own malloc", baseline=True)
        by_name.pop(SYSTEM, None)
    else:
        if baseline not in by_name:
            by_name |= {peer.name: peer for peer in _baseline_peer(baseline)}
        peer = by_name.pop(baseline)
        first = Subject(baseline, _title(peer), examined(peer), baseline=True)
    control = control_of(first)
    others = [Subject(peer.name, _title(peer), examined(peer)) for peer in by_name.values()]
    if not others and request.allocators:
        raise Problem("E003", f"{first.name} is the baseline: name at least one other allocator",
                      do=f"heapwise compare --allocators {first.name},jemalloc -- PROGRAM")
    if not others:
        raise Problem("E053", "there is no allocator to compare with",
                      do="heapwise peers list says how to get some; --allocator name=/path.so")
    return [first, control, *others]


def _baseline_peer(name: str) -> list[Peer]:
    present, missing = choose_peers([name])
    if missing:
        raise Problem("E053", f"the baseline {name} is not installed", do=missing[0].get)
    return present


def _title(peer: Peer) -> str:
    return f"{peer.name} {peer.version}".strip()


def _plan(
    request: CompareRequest, found: Preflight, subjects: list[Subject],
    environment: dict[str, str], removed: list[str],
) -> Plan:
    fixed = request.runs is not None
    return Plan(
        kind="compare", command=[str(found.program), *request.command[1:]],
        experiments=[EXPERIMENT_ID], parameters={}, subjects=subjects,
        seed=secrets.randbits(32) if request.seed is None else request.seed,
        min_rounds=request.runs if request.runs is not None else least_rounds(subjects),
        max_rounds=request.runs or 0,
        time_s=(request.time_s or 0.0) if fixed else
        (DEFAULT_TIME_S if request.time_s is None else request.time_s),
        precision=0.0 if fixed else request.precision, warm_up_rounds=request.warm_up,
        timeout_s=request.timeout_s, input_path=_input(request.input_path),
        environment=environment, working_directory=str(Path.cwd()),
        options=PlanOptions(
            cpus=_cpus(request.cpus), ignore_output=request.ignore_output,
            keep_environment=request.keep_environment, force=request.force,
            time_given=request.time_s is not None, removed_environment=removed,
            as_typed=list(request.command), allow_background=request.allow_background,
            output_files=_output_files(request.output_files), check=request.check,
        ),
    )


def least_rounds(subjects: Sequence[Subject]) -> int:
    """From which a difference in every round survives the number of comparisons."""
    return rounds_needed(sum(not (s.baseline or s.control) for s in subjects))


def _input(path: str | None) -> str | None:
    if path is None:
        return None
    if not Path(path).is_file() or not os.access(path, os.R_OK):
        raise Problem("E003", f"--input {path} is not a file that can be read")
    return str(Path(path).absolute())


def _output_files(paths: Sequence[str]) -> list[str]:
    """Problem E003 for what a program cannot write as one file."""
    for path in paths:
        if Path(path).exists() and not Path(path).is_file():
            raise Problem("E003", f"--output-file {path} is not a file",
                          do="name each file, or compare a folder with --check")
    return list(dict.fromkeys(str(Path(path).absolute()) for path in paths))


def _cpus(asked: Sequence[int]) -> list[int]:
    """Problem E003 for a processor that we may not use."""
    if beyond := sorted(set(asked) - os.sched_getaffinity(0)):
        have = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        raise Problem("E003", f"--cpus: there is no processor {beyond[0]} here; there are {have}")
    return sorted(set(asked))
