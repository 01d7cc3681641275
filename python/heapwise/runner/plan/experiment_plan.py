"""From what the user asked of ``run`` to a plan: experiments, cells, subjects."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from heapwise.catalog import SYSTEM, choose_experiments, examined, find_peers, tuning_prefixes
from heapwise.errors import Problem
from heapwise.model import (
    ATTACKS,
    PROGRAM,
    Experiment,
    Parameter,
    Peer,
    Plan,
    PlanOptions,
    Reproduction,
    Setting,
    Subject,
    SubjectName,
    SubjectSpec,
    control_name,
    name_with_peer,
)
from heapwise.model.facts import MOST
from heapwise.options import RoundOptions, taken
from heapwise.runner.campaign.steps import control_of
from heapwise.runner.executors.measurement import experiment_executor
from heapwise.runner.plan.compare_plan import Prepared
from heapwise.runner.plan.examined import check_of, with_programs
from heapwise.runner.process.environment import cleaned, to_store
from heapwise.stats.claims.holm import rounds_needed
from heapwise.wording.suggest import did_you_mean

SMOKE_ROUNDS = 1
"""It only asks if everything works."""


@dataclass(frozen=True, kw_only=True)
class RunRequest(RoundOptions):
    """``settings`` are the ``NAME=V1,V2`` of --set; ``subjects`` are patterns of names."""

    patterns: Sequence[str] = ()


def prepare_run(request: RunRequest, environment: Mapping[str, str]) -> Prepared:
    """Problems: E001 unknown experiment, E003 bad setting or subject, E052 no native parts."""
    declared = choose_experiments(request.patterns)
    peers = find_peers()
    everything = [
        resolve(experiment, usable(peers, request.subjects, experiment.family))
        for experiment in declared
    ]
    experiments = [_narrow(experiment, request.subjects) for experiment in everything]
    experiments = [e for e in experiments if any(spec.available for spec in e.subjects)]
    if not experiments:
        raise Problem("E003", _no_subject(request.subjects, everything))
    parameters = parse_settings(request.settings, experiments)
    experiments = [
        with_programs(e, parameter_values(e, PROGRAM, parameters, smoke=request.smoke))
        if e.programs
        else e
        for e in experiments
    ]
    return plan_run(request, environment, peers, experiments, parameters)


def plan_run(
    request: RunRequest,
    environment: Mapping[str, str],
    peers: Sequence[Peer],
    experiments: list[Experiment],
    parameters: dict[str, list[Any]],
    reproduction: Reproduction | None = None,
) -> Prepared:
    """The plan for experiments with the subjects that they are run with."""
    programs = [program for experiment in experiments for program in experiment.programs]
    of_peers = [prefix for peer in peers for prefix in peer.environment_prefixes]
    left, removed = cleaned(
        environment,
        [
            *of_peers,
            *(tuning_prefixes() if any(e.is_of_programs for e in experiments) else ()),
            *(prefix for program in programs for prefix in program.environment_prefixes),
        ],
        keep=request.keep_environment,
    )
    rounds = request.rounds or (SMOKE_ROUNDS if request.smoke else least_rounds(experiments))
    plan = Plan(
        kind="run",
        command=[],
        experiments=[experiment.id for experiment in experiments],
        parameters=parameters,
        subjects=_subjects(experiments, [peer for peer in peers if peer.path is not None]),
        seed=secrets.randbits(31) if request.seed is None else request.seed,
        min_rounds=rounds,
        max_rounds=rounds,
        time_s=request.time_s or 0.0,
        precision=0.0,
        warm_up_rounds=0,
        timeout_s=request.timeout_s,
        smoke=request.smoke,
        environment=to_store(left, of_peers),
        working_directory=str(Path.cwd()),
        options=taken(
            PlanOptions,
            request,
            rounds_given=request.rounds is not None,
            removed_environment=removed,
            time_given=request.time_s is not None,
            reproduction=reproduction,
        ),
    )
    needed = any(_peer_of(s) for e in experiments for s in e.subjects)
    missing = [peer for peer in peers if peer.path is None] if needed else []
    return Prepared(
        plan,
        experiments,
        left,
        experiment_executor,
        removed,
        missing,
        checks=[check_of(programs)] if programs else [],
    )


def usable(peers: Sequence[Peer], subjects: Sequence[str] = (), family: str = "") -> list[Peer]:
    """Those that are installed, without debug builds; those on request if a subject names them, and
    those that are built to resist if the experiment is of attacks."""
    named = {SubjectName.parse(subject).peer for subject in subjects}
    return [
        peer
        for peer in peers
        if peer.path is not None
        and not peer.debug_build
        and (
            not peer.on_request
            or peer.name in named
            or (family == ATTACKS and peer.protection != "plain")
        )
    ]


def parameter_values(
    experiment: Experiment, name: str, chosen: Mapping[str, list[Any]], *, smoke: bool
) -> list[Any]:
    """The values of a parameter: those that the user chose, or the usual ones."""
    parameter = next(p for p in experiment.parameters if p.name == name)
    return chosen.get(name, parameter.smoke if smoke else parameter.default)


def least_rounds(experiments: Sequence[Experiment]) -> int:
    """From which a difference in every round survives the comparisons of the largest experiment."""
    return max(
        rounds_needed(
            sum(spec.available and spec.name != experiment.baseline for spec in experiment.subjects)
        )
        for experiment in experiments
    )


def resolve(experiment: Experiment, peers: Sequence[Peer]) -> Experiment:
    """``malloc`` becomes ``malloc@<peer>`` for every peer that is here; unavailable ones go.

    Programs that are not here stay: each is a row that says how to get it. One that names its peer
    is for that peer alone.
    """
    specs: list[SubjectSpec] = []
    kinds = {spec.name: spec.kind for spec in experiment.subjects}
    for spec in experiment.subjects:
        if not spec.available and not spec.command:
            continue
        if spec.kind != "malloc" or not spec.available:
            specs.append(spec)
            continue
        if wanted := _peer_of(spec):
            here = any(peer.name == wanted for peer in peers)
            specs.append(
                spec
                if here
                else replace(spec, available=False, reason=f"{wanted} is not here: heapwise peers")
            )
            continue
        specs += [
            replace(
                spec, name=name_with_peer(spec.name, peer.name), title=f"{peer.name} {peer.version}"
            )
            for peer in peers
        ]
    baseline = experiment.baseline
    if kinds.get(baseline) == "malloc":
        baseline = name_with_peer(baseline, SYSTEM)
    return replace(experiment, subjects=specs, baseline=baseline)


def _narrow(experiment: Experiment, patterns: Sequence[str]) -> Experiment:
    """Only subjects that fit, and the baseline, without which nothing can be compared."""
    if not patterns:
        return experiment
    fitting = [spec for spec in experiment.subjects if _fits(spec.name, patterns)]
    if not fitting:
        return replace(experiment, subjects=[])
    names = {spec.name for spec in fitting} | {experiment.baseline}
    return replace(experiment, subjects=[s for s in experiment.subjects if s.name in names])


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """Also what it is called without its peer, or without its point of a curve."""
    parts = SubjectName.parse(name, may_be_control=False)
    names = {name, parts.inner, parts.declared}
    return any(fnmatchcase(each, pattern) for each in names for pattern in patterns)


def _subjects(experiments: Sequence[Experiment], peers: Sequence[Peer]) -> list[Subject]:
    """The union over the experiments; a name means the same wherever it occurs."""
    by_name = {peer.name: peer for peer in peers}
    baselines = {experiment.baseline for experiment in experiments}
    found: dict[str, Subject] = {}
    for experiment in experiments:
        for spec in experiment.subjects:
            if not spec.available:
                continue
            peer = by_name.get(_peer_of(spec))
            found.setdefault(
                spec.name,
                Subject(
                    spec.name, spec.title, peer and examined(peer), baseline=spec.name in baselines
                ),
            )
    for name in sorted(baselines & found.keys()):
        found[control_name(name)] = control_of(found[name])
    return list(found.values())


def _peer_of(spec: SubjectSpec) -> str:
    return SubjectName.parse(spec.name, may_be_control=False).peer


def parse_settings(
    settings: Sequence[str], experiments: Sequence[Experiment]
) -> dict[str, list[Any]]:
    """``block_size=64,256`` as values of the parameter's own type, each of which every experiment
    with that parameter accepts. Problem E003 else."""
    known = {p.name: p for experiment in experiments for p in experiment.parameters}
    found: dict[str, list[Any]] = {}
    for setting in settings:
        name, equals, words = setting.partition("=")
        if not equals or not words:
            raise Problem("E003", f"--set {setting} is not of the form NAME=VALUE[,VALUE...]")
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise Problem("E003", f"--set: no chosen experiment has a parameter '{name}'{hint}")
        for experiment in experiments:
            for parameter in experiment.parameters:
                if parameter.name == name:
                    found[name] = [
                        _value(word, parameter, experiment.id) for word in words.split(",")
                    ]
    return found


def _value(word: str, parameter: Parameter, experiment: str) -> Setting:
    example = (parameter.default or parameter.smoke or [""])[0]
    try:
        if isinstance(example, bool):
            return {"true": True, "false": False}[word.lower()]
        if isinstance(example, int):
            return _in_range(int(word), parameter, experiment)
        if isinstance(example, float):
            return _in_range(float(word), parameter, experiment)
    except (ValueError, KeyError) as error:
        kind = type(example).__name__
        raise Problem(
            "E003",
            f"--set {parameter.name}: '{word}' is not {'an' if kind == 'int' else 'a'} "
            f"{kind} as {example} is",
        ) from error
    if parameter.choices and word not in parameter.choices:
        raise Problem(
            "E003",
            f"--set {parameter.name}: '{word}' is not a value that {experiment} "
            f"has{did_you_mean(word, parameter.choices)}",
            do=f"name one of {', '.join(parameter.choices)}",
        )
    return word


def _in_range(number: float, parameter: Parameter, experiment: str) -> float:
    """The number. Problem E003 for one that the experiment would refuse, or that cannot be
    stored."""
    if not abs(number) <= MOST:
        raise Problem("E003", f"--set {parameter.name}: {number} is beyond what can be measured")
    if parameter.least is not None and number < parameter.least:
        raise Problem(
            "E003",
            f"--set {parameter.name}: {number} is too little for {experiment}",
            do=f"give {parameter.least} or more",
        )
    return number


def _no_subject(patterns: Sequence[str], experiments: Sequence[Experiment]) -> str:
    names = sorted({spec.name for experiment in experiments for spec in experiment.subjects})
    wanted = patterns[0] if patterns else ""
    hint = did_you_mean(wanted, names, f"there are {', '.join(names)}")
    return f"--subjects: nothing fits '{wanted}'{hint}"
