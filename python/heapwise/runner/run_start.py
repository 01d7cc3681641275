"""Starts a run and goes on with one: from a plan to a campaign."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heapwise import __version__
from heapwise.catalog import build_fingerprint, find_experiments, revision_of
from heapwise.errors import Problem
from heapwise.evidence.earlier_runs import calibrate, is_left_out
from heapwise.machine import machine_fingerprint, read_machine
from heapwise.model import (
    SCHEMA_VERSION,
    Calibration,
    EnvironmentMarks,
    Experiment,
    Machine,
    Plan,
    Run,
    hardware,
)
from heapwise.runner.campaign.campaign import Campaign
from heapwise.runner.campaign.executor import MakeExecutor, now
from heapwise.runner.campaign.fleet_origin import read_origin, run_id_of
from heapwise.runner.campaign.measured_files import Unchanged, files_of, loadable_files, read_states
from heapwise.runner.campaign.watcher import Watcher
from heapwise.runner.plan.compare_plan import Prepared
from heapwise.runner.process.environment import from_store, marks
from heapwise.store import (
    RunWriter,
    key_name,
    make_private_folder,
    new_run_id,
    read_run,
    read_self_test,
    store_key,
)
from heapwise.store.location import RUNS


def start(
    prepared: Prepared, store_path: Path, command_line: list[str], watcher: Watcher
) -> Campaign:
    """A new run in the store. Problems E050, E051 before anything is measured."""
    plan = _marked(prepared.plan, prepared.environment, _key(store_path))
    files = Unchanged(read_states(_all_files(plan, prepared.experiments)))
    origin = read_origin(os.environ)
    plan = _with_options(plan, files=files.states, not_utf8=_has_odd(plan), fleet=origin)
    machine = read_machine()
    run = Run(
        schema=SCHEMA_VERSION,
        id=run_id_of(origin) if origin else new_run_id(store_path),
        version=__version__,
        created=now(),
        command_line=command_line,
        plan=plan,
        machine=machine,
        calibration=_calibration(plan, store_path, machine),
        self_test=read_self_test(store_path, machine_fingerprint(machine), build_fingerprint()),
        experiments=prepared.experiments,
        state="running",
        preflight=prepared.checks,
        missing_peers=prepared.missing,
        revision=revision_of(_sources(plan)),
    )
    executor = prepared.executor(prepared.plan, prepared.environment, prepared.experiments, watcher)
    return Campaign(run, RunWriter.create(store_path, run), executor, watcher, files)


def _calibration(plan: Plan, store_path: Path, machine: Machine) -> dict[str, Calibration]:
    """Only of a comparison: its intervals decide when it ends, and it has a baseline twice."""
    if plan.traits.ends_by != "intervals" or is_left_out(os.environ):
        return {}
    return calibrate(store_path, machine)


def resume(
    folder: Path, extend: Callable[[Plan], Plan], watcher: Watcher, executor: MakeExecutor
) -> Campaign:
    """``extend`` gives the stored plan more rounds or time, or leaves it as it is. executor: of the
    kind of study that the run belongs to. Problems: E013 if the run cannot go on, E006 if another
    process measures it, E032 if a file of it is another."""
    writer = RunWriter.reopen(folder)
    try:
        return _go_on(writer, extend, watcher, executor)
    except BaseException:
        writer.close()
        raise


def _go_on(
    writer: RunWriter, extend: Callable[[Plan], Plan], watcher: Watcher, make: MakeExecutor
) -> Campaign:
    plan = extend(writer.run.plan)
    if plan.options.not_utf8:
        raise Problem(
            "E013",
            "the run cannot go on: names in it are not UTF-8",
            why="The store holds text, so those names cannot be restored from it.",
            do="begin a new run",
        )
    if lost := _lost_place(plan):
        raise Problem(
            "E013",
            f"the gate cannot go on: {lost} is gone",
            why="It held the builds at one path, so that their counts are comparable.",
            do="begin a new gate",
        )
    environment = from_store(plan.environment, os.environ)
    store = writer.folder.parent.parent
    if writer.folder.parent.name == RUNS:
        plan = _with_changes(plan, environment, _key(store))
    if not Path(plan.working_directory or ".").is_dir():
        raise Problem("E013", f"its working directory {plan.working_directory} is gone")
    if (then := hardware(writer.run.machine)) != (now_here := hardware(read_machine())):
        raise Problem(
            "E013",
            f"the run cannot go on here: it was measured on {then}, and this is {now_here}",
            why="Figures of two machines are not one result.",
            do="begin a new run",
        )
    experiments = _relocate(writer.run.experiments)
    files = _as_they_were(plan, experiments)
    plan = _with_options(plan, files=files.states)
    run = replace(writer.run, plan=plan, state="running", experiments=experiments)
    executor = make(plan, environment, run.experiments, watcher)
    writer.update(run)
    stored = read_run(store, str(writer.folder))
    executor.resume_from(stored.processes)
    return Campaign(run, writer, executor, watcher, files, stored)


def _lost_place(plan: Plan) -> str:
    """The first of the places of a gate that is gone; "" if all are there."""
    return next((place.root for place in plan.places.values() if not Path(place.root).exists()), "")


def _as_they_were(plan: Plan, experiments: list[Experiment]) -> Unchanged:
    """Problem E032 if a file is another than when the run began. A run of an earlier version
    holds nothing of its files: then they count as they are today."""
    states = plan.options.files
    if states is None:
        return Unchanged(read_states(_all_files(plan, experiments)))
    files = Unchanged(states, {f"experiment {e.id}": e.binary for e in experiments if e.binary})
    files.demand(beside=True)
    return files


def _all_files(plan: Plan, experiments: list[Experiment]) -> dict[str, str]:
    return files_of(plan, experiments) | loadable_files(plan, experiments)


def _sources(plan: Plan) -> list[Path]:
    """Where the sources of what is measured may be."""
    program = [Path(plan.command[0]).parent] if plan.command and not plan.places else []
    return [
        folder
        for folder in [*program, Path(plan.working_directory or ".").absolute()]
        if folder.is_dir()
    ]


def _has_odd(plan: Plan) -> bool:
    """Whether something of it that a later invocation needs is not UTF-8, as file names may be."""
    words = [
        *plan.command,
        *(word for build in plan.builds for word in build.command),
        plan.input_path or "",
        plan.working_directory,
        *plan.environment,
        *plan.environment.values(),
    ]
    return any(0xD800 <= ord(letter) <= 0xDFFF for word in words for letter in word)


def _key(store_path: Path) -> bytes:
    try:
        make_private_folder(store_path)
        return store_key(store_path)
    except OSError as error:
        raise Problem("E050", f"{store_path} cannot be written: {error.strerror}") from error


def _marked(plan: Plan, environment: Mapping[str, str], key: bytes) -> Plan:
    """The plan with what a later invocation needs to see that the environment is another."""
    found = EnvironmentMarks(key_name(key), marks(plan.environment, environment, key))
    return _with_options(plan, environment_marks=found)


def _with_changes(plan: Plan, environment: Mapping[str, str], key: bytes) -> Plan:
    """Names whose values were others before; a run of another store cannot be compared."""
    before = plan.options.environment_marks
    if before is None or before.key != key_name(key):
        return plan
    today = marks(plan.environment, environment, key)
    changed = sorted(name for name, mark in before.values.items() if today.get(name) != mark)
    known = {*plan.options.environment_changed, *changed}
    return _with_options(plan, environment_changed=sorted(known))


def _with_options(plan: Plan, **changes: Any) -> Plan:
    return replace(plan, options=replace(plan.options, **changes))


def _relocate(experiments: list[Experiment]) -> list[Experiment]:
    """Binaries may have moved since; those of the same id take their place."""
    if all(not experiment.binary or Path(experiment.binary).exists() for experiment in experiments):
        return experiments
    here = {experiment.id: experiment.binary for experiment in find_experiments()}
    missing = [experiment.id for experiment in experiments if experiment.id not in here]
    if missing:
        raise Problem("E052", f"the experiment {missing[0]} of this run is no longer installed")
    return [replace(experiment, binary=here[experiment.id]) for experiment in experiments]
