"""Repeats are chosen from what the first two rounds cost and how they scatter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from synthetic import changed, pool_run

from heapwise.model import Plan, PlanOptions
from heapwise.runner.campaign.repeats import LEARNING, LEAST, choose
from heapwise.runner.campaign.steps import steps_of_round
from heapwise.store import StoredRun


def scattered(
    between: float, within: float, *, wall_s: float = 0.3, elapsed_s: float = 0.02, rounds: int = 2
) -> StoredRun:
    """Standard deviations of processes and of the repeats within one, relative."""
    random, stored = np.random.default_rng(3), pool_run(rounds=rounds)
    luck = {p.number: random.normal(0, between) for p in stored.processes}
    samples = [
        replace(
            changed(s, elapsed_ns=elapsed_s * 1e9),
            values={
                name: 5 * float(np.exp(luck[s.process] + random.normal(0, within)))
                for name in s.values
            },
        )
        for s in stored.samples
    ]
    processes = [changed(p, wall_s=wall_s) for p in stored.processes]
    plan = replace(stored.run.plan, min_rounds=9, max_rounds=9)
    return replace(stored, samples=samples, processes=processes, run=replace(stored.run, plan=plan))


def chosen(stored: StoredRun, *, rounds_given: bool = False) -> Plan:
    plan = replace(stored.run.plan, options=PlanOptions(rounds_given=rounds_given))
    return choose(plan, stored.run.experiments, stored.processes, stored.samples)


def test_if_processes_differ_few_repeats_and_more_rounds_take_the_same_time() -> None:
    plan = chosen(scattered(0.05, 0.005))
    assert plan.options.chosen_repeats == {"pool/bulk": 1 + LEAST}
    # A process took 0.30 s with 9 repeats of 21.5 ms; with 3 it takes 0.17 s.
    assert plan.max_rounds == plan.min_rounds == 2 + int(7 * 0.3 / 0.171)


def test_if_only_repeats_differ_they_stay() -> None:
    plan = chosen(scattered(0.0, 0.05))
    assert plan.options.chosen_repeats == {"pool/bulk": 10}
    assert plan.max_rounds == 9


def test_rounds_that_were_asked_for_stay() -> None:
    plan = chosen(scattered(0.05, 0.005), rounds_given=True)
    assert plan.options.chosen_repeats == {"pool/bulk": 1 + LEAST}
    assert plan.max_rounds == 9


def test_an_experiment_with_a_number_of_its_own_keeps_it() -> None:
    stored = scattered(0.05, 0.005)
    own = [replace(e, repeats=16) for e in stored.run.experiments]
    assert (
        choose(stored.run.plan, own, stored.processes, stored.samples).options.chosen_repeats == {}
    )


def test_nothing_is_chosen_from_nothing() -> None:
    stored = scattered(0.05, 0.005)
    plan = choose(stored.run.plan, stored.run.experiments, [], [])
    assert (plan.options.chosen_repeats, plan.max_rounds) == ({}, 9)


def test_the_choice_depends_on_the_first_rounds_alone() -> None:
    first, later = scattered(0.05, 0.005), scattered(0.05, 0.005, rounds=5)
    early = [s for s in later.samples if s.round < LEARNING]
    assert choose(first.run.plan, later.run.experiments, later.processes, later.samples) == choose(
        first.run.plan, later.run.experiments, later.processes, early
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (PlanOptions(), [None, None, None]),
        (PlanOptions(repeats=5), [5, 5, 5]),
        (PlanOptions(chosen_repeats={"pool/bulk": 4}), [None, None, 4]),
        (PlanOptions(repeats=5, chosen_repeats={"pool/bulk": 4}), [5, 5, 5]),
    ],
)
def test_steps_have_the_repeats_that_were_asked_for_or_chosen(
    options: PlanOptions, expected: list[int | None]
) -> None:
    run = pool_run().run
    plan = replace(run.plan, options=options)
    assert [
        steps_of_round(plan, run.experiments, number)[0].repeats for number in range(3)
    ] == expected
