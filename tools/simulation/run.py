"""A random campaign as the store would return it: processes and samples, drawn, never measured.

The host is called ``synthetic`` so that such a run can never be taken for a real one.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from heapwise.model import (
    Experiment,
    GateOptions,
    Machine,
    Plan,
    PlanOptions,
    PoolCandidate,
    Process,
    Quantity,
    Replay,
    Run,
    Sample,
    SampleFacts,
    Subject,
    SubjectSpec,
)
from heapwise.store import StoredRun
from simulation.noise import Array, noise
from simulation.scenario import Campaign

EXPERIMENT, QUANTITY, GATED = "simulation/campaign", "time", "wall_time"
BASELINE, CONTROL = "baseline", "baseline-control"

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

TYPICAL_NS = 100.0
ROUND_DEVIATION = 0.02
"""What comes and goes on the machine, and touches all subjects of a round alike."""

FIRST = 2
"""The place of the first subject, after the baseline and its control."""

SPIN_NS = 1_000_000
STRUCK_SPIN_NS = 1_100_000
"""After a spin that took longer by this share V12 strikes the sample."""


def subject_names(campaign: Campaign) -> list[str]:
    """The names of the subjects beside the baseline and its control, in the order of the
    effects."""
    return [f"subject{number}" for number in range(len(campaign.effects))]


def stored_run(campaign: Campaign, random: np.random.Generator) -> StoredRun:
    """Every subject once in every round, in a new random order."""
    names = [BASELINE, CONTROL, *subject_names(campaign)]
    logs = _logs(campaign, random, len(names))
    lost = _lost(campaign, random)
    processes: list[Process] = []
    samples: list[Sample] = []
    before = -1
    for round_ in range(campaign.rounds):
        order = random.permutation(len(names)).tolist()
        if round_ and campaign.compares:
            order.remove(before)
            order.insert(0, before)
        for place in order:
            number = len(processes)
            disturbed = np.log1p(campaign.after) if before == FIRST else 0.0
            before = place
            processes.append(
                Process(
                    number=number,
                    experiment=EXPERIMENT,
                    subject=names[place],
                    parameters={},
                    round=round_,
                    status="ok",
                    started_at=_time(campaign, round_, number),
                )
            )
            struck = (names[place], round_) == lost
            facts = SampleFacts(
                spin_before_ns=SPIN_NS, spin_after_ns=STRUCK_SPIN_NS if struck else SPIN_NS
            )
            samples += [
                Sample(
                    process=number,
                    experiment=EXPERIMENT,
                    subject=names[place],
                    parameters={},
                    round=round_,
                    repeat=repeat,
                    warm_up=False,
                    values={_quantity(campaign): value},
                    facts=facts,
                )
                for repeat, value in enumerate(np.exp(logs[place, round_] + disturbed).tolist())
            ]
    return StoredRun(Path("synthetic"), _run(campaign, names), processes, samples)


def _quantity(campaign: Campaign) -> str:
    return QUANTITY if campaign.limit is None else GATED


def _logs(campaign: Campaign, random: np.random.Generator, series: int) -> Array:
    """Shape (series, rounds, repeats)."""
    truth = np.log1p([0.0, 0.0, *campaign.effects])[:, np.newaxis]
    rounds = (
        np.log(TYPICAL_NS)
        + truth
        + ROUND_DEVIATION * random.normal(size=campaign.rounds)
        + campaign.deviation
        * noise(random, campaign.shape, (series, campaign.rounds), campaign.correlation)
    )
    if campaign.drifts:
        own = noise(random, campaign.shape, (1, campaign.rounds), campaign.drifts)[0]
        rounds[FIRST] = np.log(TYPICAL_NS) + truth[FIRST] + campaign.deviation * own
    if campaign.scatter != 1:
        own = noise(random, campaign.shape, (1, campaign.rounds), campaign.correlation)[0]
        rounds[FIRST] += campaign.deviation * (campaign.scatter**2 - 1) ** 0.5 * own
    if campaign.days:
        effects = campaign.days * random.normal(size=(series, 2))
        effects[:FIRST] = 0
        rounds += effects[:, _days(campaign)]
    if any(campaign.rare):
        shares = np.zeros((series, 1))
        shares[FIRST], shares[:FIRST] = campaign.rare
        rounds += np.log(2) * (random.random((series, campaign.rounds)) < shares)
    if campaign.states:
        rounds += campaign.states * random.normal(size=(series, 1))
    repeats = random.normal(size=(series, campaign.rounds, campaign.repeats))
    return np.asarray(rounds[:, :, np.newaxis] + campaign.within * repeats, dtype=np.float64)


def _days(campaign: Campaign) -> list[int]:
    """The day of each round, 0 or 1."""
    return [int(round_ >= campaign.rounds / 2) for round_ in range(campaign.rounds)]


def _time(campaign: Campaign, round_: int, number: int) -> str:
    """When a process began."""
    day = _days(campaign)[round_] if campaign.days else 0
    return (BEGIN + timedelta(days=day, seconds=number)).isoformat()


def _lost(campaign: Campaign, random: np.random.Generator) -> tuple[str, int] | None:
    names = {"subject": subject_names(campaign)[0], "baseline": BASELINE, "control": CONTROL}
    if campaign.loser == "nobody":
        return None
    return names[campaign.loser], int(random.integers(campaign.rounds))


def _run(campaign: Campaign, names: list[str]) -> Run:
    experiment = Experiment(
        schema=1,
        id=EXPERIMENT,
        family="simulation",
        question="Is the analysis right?",
        isolates="the analysis",
        not_shown="anything measured",
        parameters=[],
        quantities=[Quantity(_quantity(campaign), "ns/op", "lower")],
        subjects=[SubjectSpec(name, "inline", name) for name in names],
        baseline=BASELINE,
        repeats=campaign.repeats,
        dropped_repeats=0,
    )
    subjects = [
        Subject(name, name, baseline=name == BASELINE, control=name == CONTROL) for name in names
    ]
    plan = Plan(
        kind="compare" if campaign.compares else "run",
        command=[EXPERIMENT],
        experiments=[EXPERIMENT],
        parameters={},
        subjects=subjects,
        seed=1,
        min_rounds=campaign.rounds,
        max_rounds=campaign.rounds,
        time_s=60,
        precision=0.01,
        warm_up_rounds=0,
        timeout_s=60,
        options=_options(campaign),
    )
    return Run(
        schema=1,
        id="5a11",
        version="0.1.0",
        created="2026-01-02T03:04:05Z",
        command_line=["heapwise", "run", EXPERIMENT],
        plan=plan,
        machine=_machine(),
        experiments=[experiment],
        state="complete",
        machine_after=_machine(),
        finished="2026-01-02T03:09:05Z",
    )


def _options(campaign: Campaign) -> PlanOptions:
    if campaign.advises:
        candidates = [
            PoolCandidate(name, name, 48, 1000, "unsynchronized", "")
            for name in subject_names(campaign)
        ]
        return PlanOptions(
            replay=Replay(
                "synthetic.hwt", "synthetic", [], candidates=candidates, quantity=QUANTITY
            )
        )
    if campaign.limit is None:
        return PlanOptions()
    return PlanOptions(gate=GateOptions({"time": campaign.limit}))


def _machine() -> Machine:
    return Machine(
        host="synthetic",
        user="nobody",
        cpu="Synthetic CPU",
        cores=2,
        memory_bytes=2**33,
        caches={},
        kernel="Linux 6.1.0",
        distribution="Synthetic 12",
        libc="glibc 2.36",
        page_bytes=4096,
    )
