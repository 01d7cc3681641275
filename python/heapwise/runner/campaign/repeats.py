"""How many repeats a process should have, and how many rounds fit into the same time then.

From the first two rounds: if processes differ more than the repeats within one, and starting one is
cheap, few repeats in many processes say more in the same time.
Source: T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, section 7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from statistics import mean, median, variance

from heapwise.model import Experiment, Plan, Process, Sample, Settings

LEARNING = 2
"""Rounds, from which repeats are chosen."""

USUAL = 10
"""Repeats of an experiment that asks for no number of its own (bench/harness/experiment.hpp)."""

LEAST = 3
"""Repeats that are kept of a process: of two, one that was disturbed would be half of the number.
"""

MOST_ROUNDS = 3
"""Times as many rounds as were planned at most: cheap repeats are not a reason for more.
"""

PROBES_S = 0.0015
"""What is measured of the machine before and after each repeat."""

LAUNCH_S = 0.0075
"""What starting a process costs at least."""

SettingsSubject = tuple[Settings, str]
"""The settings of an experiment, and a subject."""


@dataclass(frozen=True)
class Costs:
    """Seconds. process: what it costs without the repeats that are kept."""

    process: float
    repeat: float


def choose(
    plan: Plan,
    experiments: Sequence[Experiment],
    processes: Sequence[Process],
    samples: Sequence[Sample],
) -> Plan:
    """The plan with the chosen repeats of each experiment, and with rounds for the time saved.

    The choice depends on the stored samples of the first two rounds alone. --repeats and --rounds
    are not changed, nor is an experiment that asks for a number of repeats of its own.
    """
    chosen: dict[str, int] = {}
    before = after = 0.0
    for experiment in experiments:
        mine = [s for s in samples if s.experiment == experiment.id and s.round < LEARNING]
        walls = {
            p.number: float(p.facts.wall_s or 0.0)
            for p in processes
            if p.experiment == experiment.id
            and p.round < LEARNING
            and p.status == "ok"
            and not p.facts.counting
        }
        costs = _costs(experiment, mine, walls)
        kept = experiment.repeats - experiment.dropped_repeats
        wanted = kept
        if costs is not None and experiment.repeats == USUAL:
            wanted = min(kept, _best(mine, costs, kept))
            chosen[experiment.id] = experiment.dropped_repeats + wanted
        number = len(walls) / LEARNING
        if costs is not None:
            before += number * (costs.process + kept * costs.repeat)
            after += number * (costs.process + wanted * costs.repeat)
    rounds = plan.max_rounds
    if not plan.options.rounds_given and after > 0:
        more = (rounds - LEARNING) * min(before / after, MOST_ROUNDS)
        rounds = max(rounds, LEARNING + int(more))
    options = replace(plan.options, chosen_repeats=chosen)
    return replace(plan, max_rounds=rounds, min_rounds=rounds, options=options)


def _costs(
    experiment: Experiment, samples: Sequence[Sample], walls: dict[int, float]
) -> Costs | None:
    elapsed = [s.facts.elapsed_ns / 1e9 for s in samples if s.facts.elapsed_ns is not None]
    if not elapsed or not walls:
        return None
    repeat = mean(elapsed) + PROBES_S
    kept = experiment.repeats - experiment.dropped_repeats
    return Costs(max(LAUNCH_S, mean(walls.values()) - kept * repeat), repeat)


def _best(samples: Sequence[Sample], costs: Costs, most: int) -> int:
    """The root of the costs' ratio times that of the variances."""
    within, between = _variances(samples)
    if between <= 0:
        return most
    return max(LEAST, ceil(sqrt(costs.process / costs.repeat * within / between)))


def _variances(samples: Sequence[Sample]) -> tuple[float, float]:
    """The variances of the logarithms of the first quantity: within processes, and between them
    beyond that.

    What moves all subjects of a round alike cancels in ratios, so it is taken away first.
    """
    rows: dict[SettingsSubject, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        value = next(iter(sample.values.values()), None)
        if value and value > 0 and not sample.warm_up:
            place = Settings.of(sample.parameters), sample.subject
            rows[place][sample.round].append(log(value))
    within = [variance(logs) for row in rows.values() for logs in row.values() if len(logs) > 1]
    kept = [len(logs) for row in rows.values() for logs in row.values()]
    steps: dict[Settings, list[float]] = defaultdict(list)
    for (settings, _), row in rows.items():
        if len(row) == LEARNING:
            first, second = (median(row[number]) for number in sorted(row))
            steps[settings].append(second - first)
    between = [variance(found) / 2 for found in steps.values() if len(found) > 1]
    if not within or not between:
        return 0.0, 0.0
    return mean(within), mean(between) - mean(within) / mean(kept)
