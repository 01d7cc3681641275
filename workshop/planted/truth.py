"""What a planted effect really costs: measured with the program alone on the machine."""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import msgspec
import numpy as np
from scipy.stats import quantile_test

from workshop.planted.plant import Dose, new_record, read_record
from workshop.planted.ready import CannotPlant, children_cpu_s

TRIAL = Dose(at_look=1_000, at_end=1_000_000)
"""To learn how often a program looks and ends, and how long a step takes."""

FEWEST_LOOKS = 200
"""With fewer, what is planted would come in large pieces, so it comes at the ends of processes."""

FEWEST_ROUNDS, MOST_ROUNDS, ENOUGH_S = 4, 30, 6.0
"""Rounds alone, before a comparison and after it: a program of a second has four, a short one as
many as take six seconds."""

SEED = 20
QUIET = 0.2
"""The share of the runs that others disturbed least: they never make one faster."""

RESAMPLES = 1000
SURELY = 4.0
"""Standard errors by which own work must change: for each of 60 effects, from few runs."""


FEWEST_VALUES = 6
"""With fewer, the ranks do not tell the error of a median."""

NORMAL_95 = 1.96
"""Standard errors on each side of a normal value that hold it in 95 %."""

CONFIDENCE = 0.95
"""The confidence of the interval from which the error of a median is computed."""

Run = Callable[[Mapping[str, str]], object]
"""Runs the program once, with these variables added to its environment."""


class Alone(msgspec.Struct, frozen=True):
    """One run of a program, with its children. planted_s: the part of cpu_s that was planted."""

    cpu_s: float
    planted_s: float
    looks: int
    ends: int

    @property
    def own_s(self) -> float:
        """Processor time of its own work."""
        return self.cpu_s - self.planted_s


class Truth(msgspec.Struct, frozen=True):
    """An effect, measured alone. All in percent: planted as asked for, the effect on the
    processor time with its standard error, and how much dearer the program's own work is beside
    what was planted, with the error of that. rounds: values of each median."""

    planted: float
    effect: float
    error: float
    own: float
    rounds: int
    own_error: float = 0.0


def run_alone(run: Run, library: Path, dose: Dose, record: Path) -> Alone:
    """Runs the program once with this dose. record: a file that is replaced."""
    new_record(record)
    before_s = children_cpu_s()
    run(dose.variables(record) | {"LD_PRELOAD": str(library)})
    cpu_s = children_cpu_s() - before_s
    paid = read_record(record)
    return Alone(
        cpu_s,
        sum(each.planted_ns for each in paid) * 1e-9,
        sum(each.looks for each in paid),
        sum(each.ends for each in paid),
    )


@contextmanager
def one_processor() -> Iterator[None]:
    """This thread, and all that it starts meanwhile, may use the last of its processors only, as a
    program that is measured side by side."""
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(usual)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def doses(trial: Alone, percents: Sequence[float]) -> dict[float, Dose]:
    """Percent of processor time -> the dose that costs about that share.

    trial: a run with ``TRIAL``. CannotPlant if it had no place for steps.
    """
    steps = trial.looks * TRIAL.at_look + trial.ends * TRIAL.at_end
    if steps == 0 or trial.planted_s <= 0:
        raise CannotPlant("it neither allocates nor ends by exit: nothing can be planted in it")
    every = trial.own_s / trial.planted_s * steps / 100
    if trial.looks >= FEWEST_LOOKS or not trial.ends:
        return {p: Dose(at_look=round(every * p / trial.looks)) for p in percents}
    return {p: Dose(at_end=round(every * p / trial.ends)) for p in percents}


def runs_alone(
    run: Run, library: Path, planted: Mapping[float, Dose], record: Path
) -> dict[float, list[Alone]]:
    """Runs the program alone with each dose and with none, in turn and in random order.

    planted: percent -> dose. Returns: percent -> its runs; 0 -> those with none.
    """
    all_doses = dict(planted) | {0.0: Dose()}
    found: dict[float, list[Alone]] = {percent: [] for percent in all_doses}
    shuffled = random.Random(SEED)
    began_s = time.monotonic()
    for number in range(MOST_ROUNDS):
        if number >= FEWEST_ROUNDS and time.monotonic() - began_s > ENOUGH_S:
            break
        for percent in shuffled.sample(list(all_doses), len(all_doses)):
            found[percent].append(run_alone(run, library, all_doses[percent], record))
    return found


def joined(
    before: Mapping[float, Sequence[Alone]], after: Mapping[float, Sequence[Alone]]
) -> dict[float, list[Alone]]:
    """The runs before a comparison and after it: on a virtual machine the price of memory may
    change from one minute to the next."""
    return {percent: [*runs, *after[percent]] for percent, runs in before.items()}


def truths(runs: Mapping[float, Sequence[Alone]]) -> dict[float, Truth]:
    """Percent -> what it really costs. runs: as ``runs_alone`` returns them."""
    plain = runs[0.0]
    return {percent: truth_of(percent, own, plain) for percent, own in runs.items() if percent}


def truth_of(percent: float, runs: Sequence[Alone], plain: Sequence[Alone]) -> Truth:
    """The effect, measured alone: what was planted over the program's own work, and how much dearer
    that surely became. At least six runs of each.

    While it computes the steps, others may take its caches, or threads of its own spin. The own
    work is the median of all runs, planted or not, so the noise of a whole run reaches the share
    only in proportion to it. What became dearer is seen in the runs that were disturbed least.
    """
    own = quiet_change([each.own_s for each in runs], [each.own_s for each in plain])
    return _truth(percent, share_of(runs, plain), own, len(runs))


def truth_there(
    alone: Truth, runs: Sequence[Alone], plain: Sequence[Alone]
) -> tuple[Truth, float | None]:
    """The effect in the processes of a comparison: what was planted in them, and the own work as
    much dearer as alone; and how much dearer it was there."""
    own = alone.own / 100, alone.own_error / 100
    truth = _truth(alone.planted, share_of(runs, plain), own, len(runs))
    dearer = median(each.own_s for each in runs) / median(each.own_s for each in plain) - 1
    return truth, round(dearer * 100, 3)


def share_of(runs: Sequence[Alone], plain: Sequence[Alone]) -> tuple[float, float]:
    """What was planted over the own work, and its standard error."""
    own, own_error = _median_and_error([each.own_s for each in (*runs, *plain)])
    paid, paid_error = _median_and_error([each.planted_s for each in runs])
    looked, _ = _median_and_error([each.planted_s for each in plain])
    share = (paid - looked) / (own + looked)
    return share, share * math.hypot(own_error / own, paid_error / paid if paid else 0.0)


def quiet_change(changed: Sequence[float], plain: Sequence[float]) -> tuple[float, float]:
    """By how much the times differ in the fifth of the runs that were disturbed least, and the
    standard error of that (bootstrap: Efron and Tibshirani 1993)."""
    ratio = np.quantile(changed, QUIET) / np.quantile(plain, QUIET) - 1
    chance = np.random.default_rng(SEED)
    drawn = [chance.choice(each, (RESAMPLES, len(each))) for each in (changed, plain)]
    above, below = (np.quantile(each, QUIET, axis=1) for each in drawn)
    return float(ratio), float(np.std(above / below, ddof=1))


def _truth(
    percent: float, share: tuple[float, float], own: tuple[float, float], rounds: int
) -> Truth:
    """share, own: as parts of one, each with its standard error. The second is a part of the effect
    if it surely is none of chance: else its error, on a busy machine, would hide every miss."""
    sure = own if abs(own[0]) > SURELY * own[1] else (0.0, 0.0)
    return Truth(
        planted=percent,
        effect=round((share[0] + sure[0]) * 100, 4),
        error=round(math.hypot(share[1], sure[1]) * 100, 4),
        own=round(own[0] * 100, 3),
        own_error=round(own[1] * 100, 3),
        rounds=rounds,
    )


def _median_and_error(values: Sequence[float]) -> tuple[float, float]:
    """At least six values. The error by the ranks of the values (Thompson 1936), because the time
    of some programs has two modes: there the deviation from the median says nothing of its error.
    """
    interval = quantile_test(values, q=0.0, p=0.5).confidence_interval(CONFIDENCE)
    return median(values), float(interval.high - interval.low) / (2 * NORMAL_95)
