"""What will be measured and in what circumstances, before it is."""

from __future__ import annotations

import shlex
from pathlib import Path

from heapwise.cli.frame.tell.console import Console, labelled
from heapwise.cli.frame.tell.notes import notes
from heapwise.machine import read_machine
from heapwise.model import LIBRARY_PATH, Build, Experiment, Machine, SubjectName
from heapwise.runner import Prepared
from heapwise.study.plan_lines import plan_line
from heapwise.study.round_costs import KnownCosts
from heapwise.wording.lists import counted


def announce(prepared: Prepared, console: Console, known: KnownCosts | None = None) -> None:
    """The lines Checking, Allocators, Machine and Plan. known: see ``estimate_s``."""
    for one in prepared.examined:
        console.say(f"Checking     {_checked(one.build)} ... {one.found.sentence}")
    for note in notes(prepared):
        console.say(labelled("Note         ", note))
    allocators(prepared, console)
    say_surroundings(prepared, console)
    if path := prepared.environment.get(LIBRARY_PATH):
        console.say(f"Libraries    looked for in {path} first ({LIBRARY_PATH})")
    console.say(labelled("Plan         ", plan_line(prepared, known)))


def say_surroundings(prepared: Prepared, console: Console) -> None:
    """The machine, and which variables the programs do not get."""
    console.say(f"Machine      {machine_line(read_machine())}")
    if prepared.removed:
        names = ", ".join(prepared.removed)
        console.say(f"Environment  left out: {names}  (--keep-env keeps them)")


def _checked(build: Build) -> str:
    """The command as it is started, after its name if that is another text."""
    if not build.name:
        return build.program_typed
    typed_words = build.as_typed[len(build.environment) + 1 :]
    by_shell = build.command[1:] != typed_words
    words = [Path(build.command[0]).name, *build.command[1:]] if by_shell else build.as_typed
    command = shlex.join(words)
    is_named_so = build.name in (command, " ".join(words))
    return command if is_named_so else f"{build.name}: {command}"


def allocators(prepared: Prepared, console: Console) -> None:
    names = []
    for subject in prepared.plan.subjects:
        if subject.control or not (subject.peer or prepared.plan.traits.whole_programs):
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
    busy = " (busy)" if load and load[0] > machine.cores else ""
    return f"{machine.cpu}, {cores}, {frequency}, load {load[0] if load else '?'}{busy}{counters}"
