"""From what the user asked of ``compare`` to a plan, before anything is run."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from heapwise.catalog import SYSTEM, choose_peers, examined, peer_prefixes
from heapwise.errors import Problem
from heapwise.model import (
    Build,
    Check,
    Experiment,
    Peer,
    Plan,
    PlanOptions,
    Setting,
    Subject,
    name_with_peer,
)
from heapwise.options import RoundOptions, taken
from heapwise.processors import usable_processors
from heapwise.runner.campaign.executor import MakeExecutor
from heapwise.runner.campaign.steps import control_of
from heapwise.runner.campaign.together import demand_possible
from heapwise.runner.executors.program import EXPERIMENT_ID, experiment_of, program_executor
from heapwise.runner.executors.whole_program import LONGEST_S
from heapwise.runner.plan.builds import Examined, demand_builds, examine_builds
from heapwise.runner.plan.preflight import Preflight
from heapwise.runner.plan.setups import set_up_early
from heapwise.runner.process.environment import cleaned, to_store
from heapwise.stats.claims.holm import rounds_needed

DEFAULT_TIME_S = 180.0
OWN = "own"
"""The name of the row of a program that, by --force, is measured with its own allocator."""

ALL = "all"
"""In the place of the allocators' names: every one that is installed."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(RoundOptions):
    """The options of ``compare``, checked one by one but not yet against the machine.

    Either ``command`` or ``builds``. One program is measured under every allocator, or under
    ``allocators``. Several builds are measured with the malloc that each has, and under
    ``allocators`` if some are named; the first one is the baseline. ``parameters``: the values of
    the placeholders in their commands.
    """

    command: Sequence[str] = ()
    builds: Sequence[Build] = ()
    parameters: Mapping[str, Sequence[Setting]] = field(default_factory=dict)
    sets_up: bool = False
    """Run the commands of --setup before the programs are looked at, which they may make."""


@dataclass(frozen=True)
class Prepared:
    """A plan and all that had to be found out for it. ``environment`` is not to be stored."""

    plan: Plan
    experiments: list[Experiment]
    environment: dict[str, str]
    executor: MakeExecutor
    removed: list[str] = field(default_factory=list)
    missing: list[Peer] = field(default_factory=list)
    excluded: list[Peer] = field(default_factory=list)
    preflight: Preflight | None = None
    checks: list[Check] = field(default_factory=list)
    """What was found out of the programs before anything is run."""

    examined: list[Examined] = field(default_factory=list)
    """The builds of a comparison."""

    notes: list[str] = field(default_factory=list)
    """What the user asked for and does not get, in words."""

    left_out: list[str] = field(default_factory=list)
    """Values of parameters at which a command of --setup failed, in sentences."""


def prepare_compare(request: CompareRequest, environment: Mapping[str, str]) -> Prepared:
    """Problems: E010, E02x of the programs; E003 of the builds and their parameters; E034 of the
    commands of --setup; E002, E003, E053 of the allocators."""
    builds = request.builds or [Build("", list(request.command))]
    demand_builds(builds, request.parameters)
    if not (request.sets_up and any(build.setup for build in builds)):
        return _prepare(request, builds, environment)
    left, _ = cleaned(environment, peer_prefixes(), keep=request.keep_environment)
    early = set_up_early(builds, request.parameters, left, request.timeout_s or LONGEST_S)
    try:
        return replace(
            _prepare(replace(request, parameters=early.parameters), builds, environment),
            executor=partial(program_executor, is_set_up=True),
            left_out=early.left_out,
        )
    except BaseException:
        early.clean_up()
        raise


def _prepare(
    request: CompareRequest, builds: Sequence[Build], environment: Mapping[str, str]
) -> Prepared:
    several = len(builds) > 1
    replaces = not several or bool(request.allocators or request.adhoc)
    found = examine_builds(
        builds, request.parameters, replaces_malloc=replaces, force=request.force
    )
    present, missing = _peers(request, several) if replaces else ([], [])
    kept = [
        peer
        for peer in present
        if not peer.debug_build
        or peer.name in request.allocators
        or peer.name == request.baseline
        or peer.is_given_by_path
    ]
    subjects = (
        _builds_subjects(kept, request, found)
        if several
        else _subjects(kept, request, found[0].found.own_allocator)
    )
    tuning = peer_prefixes()
    left, removed = cleaned(environment, tuning, keep=request.keep_environment)
    plan = _plan(request, found, subjects, to_store(left, tuning), removed)
    demand_possible(plan)
    return Prepared(
        plan,
        [experiment_of(plan.command, subjects, request.parameters)],
        left,
        program_executor,
        removed,
        missing,
        [peer for peer in present if peer not in kept],
        found[0].found,
        [check for one in found for check in one.found.checks],
        found,
        notes=_notes(request, subjects),
    )


def _notes(request: CompareRequest, subjects: Sequence[Subject]) -> list[str]:
    """glibc's malloc is not preloaded: it is the program's own, unless that has another."""
    if SYSTEM in request.allocators and subjects[0].name == OWN:
        return [
            f"{SYSTEM} is not measured: the program has an allocator of its own, which is the "
            f"row {OWN}"
        ]
    return []


def _peers(request: CompareRequest, several: bool) -> tuple[list[Peer], list[Peer]]:
    """(present, missing). The baseline of one program is an allocator."""
    names = [name for name in request.allocators if name != ALL]
    if ALL in request.allocators:
        return choose_peers([], request.adhoc)
    if several and not names:
        present, _ = choose_peers([SYSTEM], request.adhoc)
        return present, []
    if names and request.baseline and not several:
        names.append(request.baseline)
    return choose_peers(list(dict.fromkeys(names)), request.adhoc)


def _builds_subjects(
    peers: list[Peer], request: CompareRequest, builds: list[Examined]
) -> list[Subject]:
    """Each build with the malloc that it has, then under each allocator: ``old``, ``old@jemalloc``.
    With allocators, the C library's is one of them: ``old@glibc``."""
    found = [subject for one in builds for subject in _build_subjects(peers, one)]
    wanted = request.baseline or found[0].name
    first = next((s for s in found if wanted in (s.name, s.build)), None)
    if first is None:
        raise Problem(
            "E002",
            f"--baseline {wanted} is not one of the rows",
            do=f"name one of: {', '.join(s.name for s in found)}",
        )
    first = replace(first, baseline=True)
    others = [subject for subject in found if subject.name != first.name]
    return [first, control_of(first), *others]


def _build_subjects(peers: list[Peer], one: Examined) -> list[Subject]:
    build, found = one.build, []
    if not peers or one.found.own_allocator:
        found.append(
            Subject(build.name, f"{build.name}, with the malloc that it has", build=build.name)
        )
    else:
        peers = sorted(_with_system(peers), key=lambda peer: peer.name != SYSTEM)
    return found + [
        Subject(
            name_with_peer(build.name, peer.name),
            f"{build.name}, {_title(peer)}",
            examined(peer),
            build=build.name,
        )
        for peer in peers
        if not (found and peer.name == SYSTEM)
    ]


def _with_system(peers: list[Peer]) -> list[Peer]:
    named = any(peer.name == SYSTEM for peer in peers)
    return peers if named else [*peers, *_baseline_peer(SYSTEM)]


def _subjects(peers: list[Peer], request: CompareRequest, own: bool) -> list[Subject]:
    """The baseline, its second label, then the others in the order of their names."""
    by_name = {peer.name: peer for peer in peers}
    baseline = request.baseline or (OWN if own else SYSTEM)
    if baseline == OWN and not own:
        raise Problem(
            "E002",
            "--baseline own: the program has no allocator of its own",
            do="leave --baseline out, or name a peer of heapwise peers list",
        )
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
    absent = [name for name in request.allocators if name not in {first.name, *by_name}]
    if not others and absent:
        raise Problem(
            "E053",
            f"not installed: {', '.join(absent)}",
            why="Nothing was started.",
            do="heapwise peers list says how to get them",
        )
    if not others and request.allocators:
        raise Problem(
            "E003",
            f"{first.name} is the baseline: name at least one other allocator",
            why="Nothing was started.",
            do=f"heapwise compare --allocators {first.name},jemalloc -- PROGRAM",
        )
    if not others:
        raise Problem(
            "E053",
            "there is no allocator to compare with",
            do="install one (heapwise peers list says how), or --allocator name=/path.so",
        )
    return [first, control, *others]


def _baseline_peer(name: str) -> list[Peer]:
    present, missing = choose_peers([name])
    if missing:
        raise Problem("E053", f"the baseline {name} is not installed", do=missing[0].get)
    return present


def _title(peer: Peer) -> str:
    settings = peer.environment.items() if peer.is_given_by_path else ()
    return " ".join([f"{peer.name} {peer.version}".strip(), *(f"{k}={v}" for k, v in settings)])


def _plan(
    request: CompareRequest,
    found: list[Examined],
    subjects: list[Subject],
    environment: dict[str, str],
    removed: list[str],
) -> Plan:
    fixed = request.rounds is not None
    first = next(one.build for one in found if one.build.name == subjects[0].build)
    return Plan(
        kind="compare",
        command=first.command,
        experiments=[EXPERIMENT_ID],
        parameters={name: list(values) for name, values in request.parameters.items()},
        subjects=subjects,
        builds=[one.build for one in found],
        seed=secrets.randbits(32) if request.seed is None else request.seed,
        min_rounds=_least(request, subjects),
        max_rounds=request.rounds or 0,
        time_s=(request.time_s or 0.0)
        if fixed
        else (DEFAULT_TIME_S if request.time_s is None else request.time_s),
        precision=0.0 if fixed else request.precision,
        warm_up_rounds=request.warm_up,
        timeout_s=request.timeout_s,
        input_path=_input(request.input_path),
        environment=environment,
        working_directory=str(Path.cwd()),
        options=taken(
            PlanOptions,
            request,
            cpus=_cpus(request.cpus),
            time_given=request.time_s is not None,
            removed_environment=removed,
            as_typed=first.as_typed,
            output_files=_output_files(request.output_files, fresh=request.fresh_folder),
            ignored_exits=sorted(set(request.ignored_exits)),
        ),
    )


def _least(request: CompareRequest, subjects: Sequence[Subject]) -> int:
    if request.rounds is not None:
        return request.rounds
    wanted = request.least_rounds or least_rounds(subjects)
    return min(wanted, request.most_rounds or wanted)


def least_rounds(subjects: Sequence[Subject]) -> int:
    """From which a difference in every round survives the number of comparisons."""
    return rounds_needed(sum(not (s.baseline or s.control) for s in subjects))


def _input(path: str | None) -> str | None:
    if path is None:
        return None
    if not Path(path).is_file() or not os.access(path, os.R_OK):
        raise Problem("E003", f"--input {path} is not a file that can be read")
    return str(Path(path).absolute())


def _output_files(paths: Sequence[str], *, fresh: bool) -> list[str]:
    """Problem E003 for what a program cannot write as one file. In a fresh folder names count from
    there."""
    if fresh:
        return list(dict.fromkeys(paths))
    for path in paths:
        if Path(path).exists() and not Path(path).is_file():
            raise Problem(
                "E003",
                f"--output-file {path} is not a file",
                do="name each file, or compare a folder with --check",
            )
    return list(dict.fromkeys(str(Path(path).absolute()) for path in paths))


def _cpus(asked: Sequence[int]) -> list[int]:
    """Problem E003 for a processor that we may not use."""
    if beyond := sorted(set(asked).difference(usable_processors())):
        have = ",".join(map(str, usable_processors()))
        raise Problem(
            "E003", f"--cpus: there is no processor {beyond[0]} here", do=f"name some of {have}"
        )
    return sorted(set(asked))
