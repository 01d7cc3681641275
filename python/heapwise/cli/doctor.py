"""``heapwise doctor``: what this machine offers, and what would spoil a measurement on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from heapwise.cli.frame.ask.options import JsonOption, QuietOption, StoreOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Exit, Problem
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.model import Machine

Health = Literal["good", "note", "missing"]
Diagnosis = tuple[Health, str, str]
"""State, subject, and what to know or to do about it."""

WITHOUT = {
    "hardware_counters": "; nothing to do on a virtual machine: time and memory do not need them",
    "turbo": "; check V12 sees whether it changed",
    "cpufreq": "; check V12 sees whether it changed",
}
"""What it means if something of the machine is not available."""


def register(app: typer.Typer) -> None:
    app.command("doctor", short_help="Show what a measurement lacks here.")(doctor)


def doctor(
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Look at everything that a measurement needs, and say what is missing and how to get it.

    \b
    heapwise doctor
    heapwise doctor --json
    heapwise doctor --store /mnt/results
    """
    from heapwise.machine import read_machine

    console = Console(quiet, json)
    machine = read_machine()
    findings = [*_parts(), *_peers(), *_trees(), *_store(store), *_machine(machine)]
    for state, what, detail in findings:
        if state != "good" or not quiet:
            console.result(f"{state.ljust(8)} {what.ljust(20)} {detail}")
    if json:
        console.json(
            {
                "machine": machine,
                "findings": [{"state": s, "what": w, "detail": d} for s, w, d in findings],
            }
        )
    missing = any(state == "missing" for state, _, _ in findings)
    return int(Exit.MISSING_TOOL if missing else Exit.DONE)


def _parts() -> Iterator[Diagnosis]:
    from heapwise.catalog import (
        COUNTER,
        LAUNCHER,
        PROBE,
        broken_experiments,
        find_experiments,
        native_part,
    )

    for name in (LAUNCHER, PROBE, COUNTER):
        try:
            yield "good", name, str(native_part(name))
        except Problem as problem:
            yield "missing", name, f"{problem.what}. do: {problem.do}"
    try:
        number = len(find_experiments())
        broken = broken_experiments()
    except Problem:
        return
    yield "good" if number else "missing", "experiments", f"{number} found"
    for found in broken:
        yield "note", "experiments", f"{found.path}: {found.reason}"


def _peers() -> Iterator[Diagnosis]:
    from heapwise.catalog import find_peers

    for peer in find_peers():
        if peer.path is None:
            yield "note", peer.name, f"not installed. do: {peer.get}"
        elif peer.debug_build:
            yield "note", peer.name, f"{peer.version}, a debug build: left out. {peer.path}"
        else:
            yield "good", peer.name, f"{peer.version}  {peer.path or 'the C library'}"


def _trees() -> Iterator[Diagnosis]:
    from heapwise.study.trees.tree_list import tree_states

    for name, version, here, missing in tree_states():
        if here:
            yield "good", name, f"{version}: {', '.join(spec.name for spec in here)}"
        for way in dict.fromkeys(missing.values()):
            rows = ", ".join(row for row, reason in missing.items() if reason == way)
            cause, colon, action = way.rpartition(": ")
            yield "note", name, f"cannot run: {rows}{colon}{cause}. do: {action}"


def _store(store: str | None) -> Iterator[Diagnosis]:
    from heapwise.store import check_writable, find_store, run_ids

    try:
        path = find_store(store)
        if found := _will_be_made(path):
            yield found
            return
        check_writable(path)
        yield "good", "store", f"{path}, {counted(len(run_ids(path)), 'run')}"
    except Problem as problem:
        yield "missing", "store", f"{problem.what}. do: {problem.do}"


def _will_be_made(store: Path) -> Diagnosis | None:
    """A store that is not there is not made to look at it."""
    try:
        store.lstat()
        return None
    except FileNotFoundError:
        pass
    except OSError:
        return None
    above = next(folder for folder in store.parents if os.path.lexists(folder))
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
        return "good", "store", f"{store}, made by the first run"
    return "missing", "store", f"{store} cannot be made in {above}. do: --store DIR"


def _machine(machine: Machine) -> Iterator[Diagnosis]:
    from heapwise.cli.frame.tell.announce import machine_line
    from heapwise.wording.names import spaced

    yield "good", "machine", machine_line(machine)
    for facility, reason in machine.unavailable.items():
        yield "note", spaced(facility), f"{reason}{WITHOUT.get(facility, '')}"
    load = (machine.facts.quiet.load or [0.0])[0]
    if load > machine.cores / 2:
        yield "note", "load", f"{load}: others are working here; wait, or trust intervals only"
    governors = machine.facts.cpufreq_governors or []
    if governors and governors != ["performance"]:
        yield "note", "governor", f"{', '.join(governors)}; performance is steadier"
    if machine.facts.turbo:
        yield "note", "turbo", "on: the clock depends on the temperature; the spin check watches it"
    if machine.facts.smt_siblings:
        yield "note", "SMT", "cores are shared by two threads each; --cpus can pick one of them"
