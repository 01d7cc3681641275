"""What will be measured and in what circumstances, before it is."""

from __future__ import annotations

import shlex
from math import prod
from typing import Any

from heapwise.cli.frame.console import Console, labelled
from heapwise.cli.frame.notes import notes
from heapwise.machine import read_machine
from heapwise.model import LIBRARY_PATH, Experiment, Machine, Plan, SubjectName
from heapwise.runner import Prepared, cells, subjects_of
from heapwise.store import usual_costs
from heapwise.wording.durations import cost, show_duration, show_limit
from heapwise.wording.lists import counted
from heapwise.wording.numbers import percent

SECONDS_PER_REPEAT = 0.025
"""For the estimate of what nobody ran before, here or where the usual costs were written down."""

KnownCosts = dict[str, float]
"""Experiment -> seconds of one process."""

LAUNCH_S = 0.03
"""What the launcher and the store add to each process."""

PROGRAM_S = 8.0
"""The same for a program of the trees at its default depth: the mean over all kinds."""

WHOLE_PROGRAM_S = 1.2
"""The same for a program of the machine."""

SERVER_S = 1.0
"""For the start and the end of a server."""

START_S = 0.05
"""For the estimate too: launcher, calibrated spins and the experiment's own preparation."""


def announce(prepared: Prepared, console: Console, known: KnownCosts | None = None) -> None:
    """The lines Checking, Allocators, Machine and Plan. known: see ``estimate_s``."""
    for one in prepared.examined:
        name = f"{one.build.name}: " if one.build.name else ""
        command = shlex.join(one.build.as_typed) if one.build.name else one.build.program_typed
        console.say(f"Checking     {name}{command} ... {one.found.sentence}")
    for note in notes(prepared):
        console.say(labelled("Note         ", note))
    allocators(prepared, console)
    console.say(f"Machine      {machine_line(read_machine())}")
    if prepared.removed:
        names = ", ".join(prepared.removed)
        console.say(f"Environment  left out: {names}  (--keep-env keeps them)")
    if path := prepared.environment.get(LIBRARY_PATH):
        console.say(f"Libraries    looked for in {path} first ({LIBRARY_PATH})")
    console.say(labelled("Plan         ", plan_line(prepared, known)))


def allocators(prepared: Prepared, console: Console) -> None:
    names = []
    for subject in prepared.plan.subjects:
        if subject.control or (prepared.plan.kind == "run" and subject.peer is None):
            continue
        version = subject.peer.version if subject.peer else ""
        mark = " (baseline)" if subject.baseline else ""
        name = subject.name if subject.build else subject.parts.peer or subject.name
        names.append(f"{name} {version}".strip() + mark)
    if names:
        label = "Rows" if len(prepared.plan.builds) > 1 else "Allocators"
        console.say(labelled(f"{label:13}", " . ".join(names)))
    for peer in prepared.missing:
        console.say(f"             missing: {peer.name}  ->  {peer.get}")
    for way, rows in missing_rows(prepared.experiments).items():
        console.say(labelled("             ", f"missing: {', '.join(rows)}  ->  {way}"))
    for peer in prepared.excluded:
        console.say(f"             left out: {peer.name}, a debug build ({peer.path})")


def missing_rows(experiments: list[Experiment]) -> dict[str, list[str]]:
    """How to get them -> subjects that are not on this machine; a curve's points are one."""
    found: dict[str, list[str]] = {}
    for experiment in experiments:
        for spec in experiment.subjects:
            name = SubjectName.parse(spec.name).curve
            if not spec.available and name not in found.setdefault(spec.reason, []):
                found[spec.reason].append(name)
        for program in experiment.programs:
            if program.status:
                found.setdefault(program.reason, []).append(program.name)
    return found


def machine_line(machine: Machine) -> str:
    load = machine.facts.quiet.load
    cores = counted(machine.cores, "core")
    frequency = (
        "no cpufreq"
        if "cpufreq" in machine.unavailable
        else str(", ".join(machine.facts.cpufreq_governors or ["cpufreq"]))
    )
    counters = ", no hardware counters" if "hardware_counters" in machine.unavailable else ""
    return f"{machine.cpu}, {cores}, {frequency}, load {load[0] if load else '?'}{counters}"


def plan_line(prepared: Prepared, known: KnownCosts | None = None) -> str:
    plan = prepared.plan
    if plan.kind == "run":
        return _run_plan(prepared, known or {})
    each = len(plan.subjects) * prod(map(len, plan.parameters.values()))
    processes = counted(each, "process", "processes")
    warm = f"{plan.warm_up_rounds} warm-up, then " if plan.warm_up_rounds else ""
    if plan.max_rounds:
        return (
            f"{warm}{counted(plan.max_rounds, 'round')} of {processes} in random order, seed "
            f"{plan.seed}"
        )
    until = (
        f"until every interval is under ±{percent(plan.precision)} "
        f"or {show_limit(plan.time_s)} are over"
    )
    return (
        f"{warm}at least {counted(plan.min_rounds, 'round')} of {processes} in random order, "
        f"{until}, seed {plan.seed}"
    )


def processes_of(prepared: Prepared) -> int:
    """Processes of all rounds of ``run``."""
    plan = prepared.plan
    each = sum(
        len(cells(experiment, plan)) * len(subjects_of(experiment, plan))
        for experiment in prepared.experiments
    )
    return each * plan.max_rounds


def estimate_s(prepared: Prepared, known: KnownCosts | None = None) -> float:
    """Seconds, roughly. known: experiment -> what its processes took in earlier runs."""
    plan = prepared.plan
    usual = {} if plan.smoke or plan.options.repeats else usual_costs()
    total = 0.0
    for experiment in prepared.experiments:
        if server := plan.options.server:
            each = server.load_s + server.idle_s + SERVER_S
            labels = len(subjects_of(experiment, plan))
            total += each * labels * len(cells(experiment, plan))
            total += each * (labels - 1) / plan.max_rounds if server.rates else 0.0
            continue
        if known and experiment.id in known and not experiment.is_of_programs:
            processes = len(cells(experiment, plan)) * len(subjects_of(experiment, plan))
            total += processes * (known[experiment.id] + LAUNCH_S)
            continue
        if experiment.programs:
            number = len(cells(experiment, plan)) * len(subjects_of(experiment, plan))
            total += number * (START_S if plan.smoke else WHOLE_PROGRAM_S)
            continue
        if experiment.is_of_programs:
            growth = sum(PROGRAM_S * _size(experiment, cell) for cell in cells(experiment, plan))
            total += (growth + START_S) * len(subjects_of(experiment, plan))
            continue
        if experiment.id in usual:
            sizes = [_size(experiment, cell) for cell in cells(experiment, plan)]
            each = usual[experiment.id] * sum(sizes) + LAUNCH_S * len(sizes)
            total += each * len(subjects_of(experiment, plan))
            continue
        repeats = 2 if plan.smoke else plan.options.repeats or experiment.repeats
        sizes = [_size(experiment, cell) for cell in cells(experiment, plan)]
        of_cells = sum(START_S + repeats * SECONDS_PER_REPEAT * size for size in sizes)
        total += of_cells * len(subjects_of(experiment, plan))
    return total * plan.max_rounds


def _size(experiment: Experiment, cell: dict[str, Any]) -> float:
    """The work of a cell against that of the default: by ``iterations``, or by the trees' depth."""
    if "depth" in cell and experiment.is_of_programs:
        usual = next(p.default[0] for p in experiment.parameters if p.name == "depth")
        return float(2.0 ** (cell["depth"] - usual))
    if "iterations" not in cell:
        return 1.0
    usual = next((p.default[0] for p in experiment.parameters if p.name == "iterations"), 0)
    return float(cell["iterations"] / usual) if usual else 1.0


def _run_plan(prepared: Prepared, known: KnownCosts) -> str:
    plan = prepared.plan
    number = len(prepared.experiments)
    measured = sum(experiment.id in known for experiment in prepared.experiments)
    seconds = cost(estimate_s(prepared, known))
    about = (
        f"{seconds}, by earlier runs"
        if measured == number
        else f"very roughly {seconds.removeprefix('about ')}"
    )
    return (
        f"{counted(number, 'experiment')}, "
        f"{counted(plan.max_rounds, 'round')}, "
        f"{processes_of(prepared)} processes in random order, {about}{_limit(plan)}, "
        f"seed {plan.seed}"
    )


def _limit(plan: Plan) -> str:
    """``--time``, which a round that has begun may exceed."""
    if not plan.time_s:
        return ""
    return f"; no round is begun after {show_duration(plan.time_s)}"
