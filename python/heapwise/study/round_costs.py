"""How long a run of experiments will take, roughly: the sum over the experiments of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heapwise.model import Experiment, Plan, Settings
from heapwise.runner import Prepared, cells, subjects_of
from heapwise.store import usual_costs
from heapwise.study.server import lengths

KnownCosts = Mapping[str, float]
"""Experiment -> seconds of one process."""

SECONDS_PER_REPEAT = 0.025
"""The cost of what nobody ran before, here or where the usual costs were written down."""

LAUNCH_S = 0.03
"""What the launcher and the store add to each process."""

ROW_S = 8.0
"""The cost of a row of the trees at its default depth: the mean over all kinds."""

WHOLE_PROGRAM_S = 1.2
"""The cost of a program of the machine."""

START_S = 0.05
"""Launcher, calibrated spins and the experiment's own preparation."""


def processes_of(prepared: Prepared) -> int:
    """Processes of all rounds."""
    return prepared.plan.max_rounds * sum(
        _Round(experiment, prepared.plan).processes for experiment in prepared.experiments
    )


def estimate_s(prepared: Prepared, known: KnownCosts | None = None) -> float:
    """Seconds, roughly. known: experiment -> what its processes took in earlier runs."""
    plan = prepared.plan
    usual = {} if plan.smoke or plan.options.repeats else usual_costs()
    rounds = [_Round(experiment, plan) for experiment in prepared.experiments]
    here = _of_report(plan) | dict(known or {})
    return plan.max_rounds * sum(each.seconds(here, usual) for each in rounds)


def _of_report(plan: Plan) -> dict[str, float]:
    """In the report's own cells, which may be larger by far than those of the default."""
    reproduction = plan.options.reproduction
    if reproduction is None or plan.smoke or plan.options.repeats:
        return {}
    if any(reproduction.changes.values()):
        return {}
    return usual_costs(reproduction.report)


@dataclass(frozen=True)
class _Round:
    """One round of one experiment."""

    experiment: Experiment
    plan: Plan

    @property
    def cells(self) -> list[Settings]:
        return [Settings.of(cell) for cell in cells(self.experiment, self.plan)]

    def _usual(self, name: str) -> float:
        """The default of a parameter; 0 where there is no such number."""
        parameters = self.experiment.parameters
        usual = next((p.default[0] for p in parameters if p.name == name), 0)
        return usual if isinstance(usual, int | float) else 0

    @property
    def subjects(self) -> int:
        return len(subjects_of(self.experiment, self.plan))

    @property
    def processes(self) -> int:
        return len(self.cells) * self.subjects

    def seconds(self, known: KnownCosts, usual: KnownCosts) -> float:
        name = self.experiment.id
        if self.plan.options.server is not None:
            return self._of_servers()
        if self.experiment.is_of_programs:
            return self._of_trees()
        if name in known:
            return self.processes * (known[name] + LAUNCH_S)
        if self.experiment.programs:
            return self.processes * (START_S if self.plan.smoke else WHOLE_PROGRAM_S)
        if name in usual:
            return self.subjects * sum(usual[name] * size + LAUNCH_S for size in self._sizes())
        repeats = 2 if self.plan.smoke else self.plan.options.repeats or self.experiment.repeats
        return self.subjects * sum(
            START_S + repeats * SECONDS_PER_REPEAT * size for size in self._sizes()
        )

    def _of_servers(self) -> float:
        """Before the first round, the capacity of each allocator is measured once."""
        server = self.plan.options.server
        assert server is not None
        each = server.load_s + server.idle_s + lengths.START_S
        before = each * (self.subjects - 1) / self.plan.max_rounds if server.rates else 0.0
        return each * self.processes + before

    def _of_trees(self) -> float:
        """A step of depth doubles the work."""
        usual = self._usual("depth")
        depths = [cell.number("depth", usual) - usual for cell in self.cells]
        return self.subjects * (START_S + ROW_S * sum(float(2.0**steps) for steps in depths))

    def _sizes(self) -> list[float]:
        """The work of each cell against that of the default."""
        usual = self._usual("iterations")
        return [cell.number("iterations", usual) / usual if usual else 1.0 for cell in self.cells]
