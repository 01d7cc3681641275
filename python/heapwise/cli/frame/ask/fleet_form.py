"""``--fleet``: the same verb on many machines, their progress in one view, and what they say."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Exit, Problem
from heapwise.options import Options
from heapwise.wording.durations import show_duration
from heapwise.wording.lists import counted

if TYPE_CHECKING:
    from heapwise.fleet.fleet_file import FleetFile, FleetRun, MachineState
    from heapwise.fleet.plan_progress import PlanProgress
    from heapwise.model import Process, Result
    from heapwise.model.json_value import Json

EVERY_S = 30.0

STRICT = "--strict"

WORST_FIRST = (Exit.PROGRAM_FAILED, Exit.GATE_FAILED, Exit.NOT_TRUSTWORTHY)


class FleetLines:
    """All machines in one line, when one of them changes and each half minute. Each machine tells
    how long the rest of its own plan takes; the slowest decides."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.last = ""
        self.at_s = -EVERY_S

    def machines(
        self,
        states: Mapping[str, MachineState],
        progress: Mapping[str, PlanProgress],
        elapsed_s: float,
    ) -> None:
        done = sum(state.state == "complete" for state in states.values())
        failed = [name for name, state in states.items() if state.state == "failed"]
        retried = sum(max(0, state.attempts - 1) for state in states.values())
        words = f"{done} of {counted(len(states), 'machine')} complete"
        words += f", {retried} started again" if retried else ""
        words += f", failed: {', '.join(failed)}" if failed else ""
        if words == self.last and elapsed_s - self.at_s < EVERY_S:
            return
        self.last, self.at_s = words, elapsed_s
        self.console.say(
            f"Fleet        {words}, {show_duration(elapsed_s)} so far{_left(states, progress)}"
        )


def _left(states: Mapping[str, MachineState], progress: Mapping[str, PlanProgress]) -> str:
    """The time left of machines that measure; those that wait or have not said anything are
    counted."""
    waiting = [name for name, state in states.items() if state.state == "waiting"]
    left = {
        name: s for name in waiting if name in progress and (s := progress[name].left_s) is not None
    }
    if not left:
        return ""
    slowest = max(left, key=lambda name: left[name])
    unknown = len(waiting) - len(left)
    but = f", not known of {unknown}" if unknown else ""
    return f", eta {show_duration(left[slowest])} ({slowest}{but})"


def measure_on_fleet(options: Options, console: Console) -> int:
    """Starts a fleet run with the words of this command. Requires: --fleet was given."""
    from heapwise.fleet.engines.engines import demand_engine
    from heapwise.fleet.fleet_file import FleetFile
    from heapwise.fleet.request import new_fleet
    from heapwise.fleet.target import FleetTarget
    from heapwise.store import check_writable, find_store

    if options.export:
        raise Problem(
            "E003",
            "--export and --fleet do not go together",
            why="Each machine of a fleet has a result of its own.",
            do="leave out --export, and then heapwise report FLEET-MACHINE",
        )
    target = FleetTarget.parse(options.fleet or "")
    fleet = new_fleet(target.where, sys.argv[1:], os.environ, target.machines, target.stall_s)
    if options.strict:  # also if a file of settings says so; a later collect has to know
        verb, *rest = fleet.words
        fleet = structs.replace(fleet, words=[verb, STRICT, *rest])
    console.say(f"Fleet        {fleet.id}: heapwise {shlex.join(fleet.words)}")
    if options.dry_run:
        if console.as_json:
            console.json(fleet)
        return 0
    demand_engine()  # before anything is written
    place = find_store(options.store)
    check_writable(place)
    return collect_fleet(FleetFile.create(place, fleet), place, console)


def collect_fleet(file: FleetFile, store: Path, console: Console) -> int:
    """Goes on with a fleet run and prints what its machines say."""
    from heapwise.fleet.engines.engines import open_engine
    from heapwise.fleet.fleet_campaign import FleetCampaign
    from heapwise.fleet.request import jobs_of

    fleet = file.read()
    campaign = FleetCampaign(
        file,
        store,
        jobs_of(fleet, os.environ),
        lambda: open_engine(fleet.target, fleet.count),
        FleetLines(console),
    )
    begun = time.monotonic()
    fleet = campaign.go()
    console.say(f"Fleet        ended after {show_duration(time.monotonic() - begun)}")
    return show_fleet(fleet, file, store, console)


def show_fleet(fleet: FleetRun, file: FleetFile, store: Path, console: Console) -> int:
    """The tables by machine, what the gate of each machine says, the machines that failed, and the
    page. The exit code is the worst of all machines."""
    from heapwise.analysis.across_runs.by_machine import by_machine
    from heapwise.cli.frame.tell.ending import exit_code
    from heapwise.document.terminal import terminal
    from heapwise.report.fleet_page import fleet_page
    from heapwise.store.writer import write_atomically
    from heapwise.study.fleet.machine_tables import machine_passages
    from heapwise.study.gate.tell import gate_sentences

    found = results_of(fleet, store)
    tables = by_machine([result for result, _ in found.values()])
    failed = [
        (name, state.message or state.state)
        for name, state in fleet.machines.items()
        if state.state != "complete"
    ]
    page = file.path.with_name("by-machine.html")
    write_atomically(
        page, fleet_page(fleet.id, f"heapwise {shlex.join(fleet.words)}", tables, failed).encode()
    )
    if told := terminal(machine_passages(tables, failed)):
        console.result(told)
    gates = {name: result.gate for name, (result, _) in found.items() if result.gate is not None}
    for name, gate in gates.items():
        console.result(f"Machine      {name}")
        console.result(terminal(gate_sentences(gate)))
    console.result(f"Saved        fleet run {fleet.id}  .  {page}")
    if console.as_json:
        console.json({"fleet": fleet, "by_machine": tables, "gates": gates})
    own = fleet.words[: fleet.words.index("--")] if "--" in fleet.words else fleet.words
    codes = {exit_code(*measured, strict=STRICT in own) for measured in found.values()}
    if failed:
        codes.add(int(Exit.PROGRAM_FAILED))
    return next((int(code) for code in WORST_FIRST if code in codes), int(Exit.DONE))


def results_of(fleet: FleetRun, store: Path) -> dict[str, tuple[Result, list[Process]]]:
    """By machine: what the run that came back says, and its processes."""
    from heapwise.analysis import analyse
    from heapwise.evidence import Evidence
    from heapwise.store import read_run

    found = {}
    for name in fleet.machines:
        folder = store / "runs" / f"{fleet.id}-{name}"
        if folder.is_dir():
            stored = read_run(store, str(folder))
            found[name] = analyse(Evidence(stored)), stored.processes
    return found


def check_lines(found: Mapping[str, dict[str, Json]]) -> list[str]:
    """One line for each machine, and one for each peer whose builds differ between them."""
    lines = []
    for name, facts in found.items():
        if "error" in facts:
            lines.append(f"{name}: {facts['error']}")
            continue
        lines.append(
            f"{name}: heapwise {facts['heapwise']}, Dask {facts['distributed']}, "
            f"{facts['cpu']}, {facts['cores']} cores, {facts['kernel']}, "
            f"{facts['libc']}, kind {facts['kind']}; doctor: {facts['doctor']}"
        )
    peers: dict[str, dict[str, list[str]]] = {}
    for name, facts in found.items():
        known = facts.get("peers")
        for peer, build in known.items() if isinstance(known, Mapping) else ():
            peers.setdefault(peer, {}).setdefault(json.dumps(build), []).append(name)
    return lines + [
        f"{peer} differs: "
        + "; ".join(f"{', '.join(names)} {build}" for build, names in builds.items())
        for peer, builds in sorted(peers.items())
        if len(builds) > 1
    ]
