"""Runs of the toy program and of the experiment with known answers, in a store of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heapwise.catalog import KNOWN, TOY, describe, native_part, system_peer
from heapwise.evidence import Evidence
from heapwise.model import Peer, Plan, PlanOptions, Process, Run, Subject
from heapwise.runner import Prepared, Progress, Step, control_of, experiment_of, resolve, start
from heapwise.runner.executors.measurement import experiment_executor
from heapwise.runner.executors.program import program_executor
from heapwise.store import read_run


@dataclass(frozen=True)
class Bent:
    """One subject: the system's malloc, or ``library``, with ``environment`` for it alone."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    library: str = ""


PLAIN = Bent("plain")


class Silent:
    """A watcher that shows nothing."""

    def begin(self, run: Run) -> None: ...

    def step(self, step: Step, progress: Progress) -> None: ...

    def done(self, process: Process) -> None: ...

    def dropped(self, subject: str, reason: str) -> None: ...


@dataclass
class Workbench:
    """``store``: where the runs go. Raises KeyboardInterrupt when the user stops a run.

    seed: of the random order.
    """

    store: Path
    seed: int = 2026

    def compare(
        self,
        words: Sequence[str],
        subjects: Sequence[Bent],
        rounds: int,
        *,
        control: Bent | None = None,
        environment: Mapping[str, str] | None = None,
        options: PlanOptions | None = None,
    ) -> Evidence:
        """The toy program with these arguments under the plain malloc, twice, and the subjects.

        control: the second label of the plain malloc, which has to be the same except for a plant.
        environment: of all processes, beside PATH.
        """
        command = [str(native_part(TOY)), *words]
        system = system_peer()
        first = Subject(PLAIN.name, "the system's malloc", system, baseline=True)
        second = control_of(first)
        if control is not None:
            second = replace(second, peer=_peer(system, control))
        chosen = [first, second, *(Subject(b.name, b.name, _peer(system, b)) for b in subjects)]
        variables = {"PATH": os.defpath, **(environment or {})}
        plan = _plan("compare", rounds, variables, options or PlanOptions(), self.seed)
        plan = replace(plan, command=command, experiments=["compare"], subjects=chosen)
        return self._measure(
            Prepared(plan, [experiment_of(command, chosen)], variables, program_executor)
        )

    def known(self, settings: Mapping[str, int], subjects: Sequence[str], rounds: int) -> Evidence:
        """The experiment with known answers, its baseline twice, and these subjects of it."""
        system = system_peer()
        declared = resolve(describe(native_part(KNOWN)), [system])
        wanted = {declared.baseline, *subjects}
        experiment = replace(
            declared, subjects=[spec for spec in declared.subjects if spec.name in wanted]
        )
        chosen = [
            Subject(
                spec.name,
                spec.title,
                system if spec.kind == "malloc" else None,
                baseline=spec.name == declared.baseline,
            )
            for spec in experiment.subjects
        ]
        chosen += [control_of(subject) for subject in chosen if subject.baseline]
        variables = {"PATH": os.defpath}
        plan = _plan("run", rounds, variables, PlanOptions(), self.seed)
        plan = replace(
            plan,
            experiments=[experiment.id],
            subjects=chosen,
            parameters={name: [value] for name, value in settings.items()},
        )
        return self._measure(Prepared(plan, [experiment], variables, experiment_executor))

    def _measure(self, prepared: Prepared) -> Evidence:
        campaign = start(prepared, self.store, ["heapwise", "selftest"], Silent())
        try:
            run = campaign.go()
        finally:
            campaign.writer.close()
        if run.state == "interrupted":
            raise KeyboardInterrupt
        return Evidence(read_run(self.store, run.id))


def _peer(system: Peer, bent: Bent) -> Peer:
    peer = replace(system, name=bent.name, title=bent.name, environment=dict(bent.environment))
    if not bent.library:
        return peer
    return replace(peer, kind="preload", path=bent.library, build_id="")


def _plan(
    kind: str, rounds: int, environment: Mapping[str, str], options: PlanOptions, seed: int
) -> Plan:
    return Plan(
        kind="compare" if kind == "compare" else "run",
        command=[],
        experiments=[],
        parameters={},
        subjects=[],
        seed=seed,
        min_rounds=rounds,
        max_rounds=rounds,
        time_s=0.0,
        precision=0.0,
        warm_up_rounds=0,
        timeout_s=20.0,
        environment=dict(environment),
        working_directory="/",
        options=options,
    )
