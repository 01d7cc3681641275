"""What a planted effect really costs: measured with the program alone on the machine."""

from __future__ import annotations

import math
import os
import random
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import msgspec
from scipy.stats import quantile_test

from workshop.planted.plant import Dose, new_record, read_record

TRIAL = Dose(at_look=1_000, at_end=1_000_000)
"""To learn how often a program looks and ends, and how long a step takes."""

FEWEST_LOOKS = 200
"""With fewer, what is planted would come in large pieces, so it comes at the ends of processes."""

FEWEST_ROUNDS, MOST_ROUNDS, ENOUGH_S = 4, 30, 6.0
"""Rounds alone, before a comparison and after it: a program of a second has four, a short one as
many as take six seconds."""

SEED = 20
SURELY = 4.0
"""Standard errors by which own work must change: for each of 60 effects, medians of few runs."""

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
    processor time with the standard error of that, and how much dearer the program's own work was
    than without what was planted. rounds: values of each median."""

    planted: float
    effect: float
    error: float
    own: float
    rounds: int


class NoPlace(ValueError):
    """The program neither allocates nor ends by exit: nothing can be planted in it."""


def run_alone(run: Run, library: Path, dose: Dose, record: Path) -> Alone:
    """Runs the program once with this dose. record: a file that is replaced."""
    new_record(record)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(dose.variables(record) | {"LD_PRELOAD": str(library)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
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

    trial: a run with ``TRIAL``. NoPlace if it had no place for steps.
    """
    steps = trial.looks * TRIAL.at_look + trial.ends * TRIAL.at_end
    if steps == 0 or trial.planted_s <= 0:
        raise NoPlace("it neither allocates nor ends by exit: nothing can be planted in it")
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
    """The effect, measured alone: ``share_of``.

    But if the own work is dearer or cheaper beside what was planted, by more than ``SURELY``
    standard errors, that is a part of the effect: threads of numpy spin while one of them computes
    the steps. Then the effect is that on the whole processor time.
    """
    paid, paid_error = _median_and_error([each.planted_s for each in runs])
    looked, _ = _median_and_error([each.planted_s for each in plain])
    beside, beside_error = _median_and_error([each.own_s for each in runs])
    before, before_error = _median_and_error([each.own_s for each in plain])
    changed = beside / before - 1
    changed_error = math.hypot(beside_error / beside, before_error / before)
    if abs(changed) <= SURELY * changed_error:
        return share_of(percent, runs, plain)
    effect = (beside + paid) / (before + looked) - 1
    return _truth(
        percent, effect, math.hypot(changed_error, paid_error / before), changed, len(runs)
    )


def share_of(percent: float, runs: Sequence[Alone], plain: Sequence[Alone]) -> Truth:
    """What was planted over the program's own work. At least six runs of each.

    The own work is the median of all runs, planted or not, so the noise of a whole run reaches the
    effect only in proportion to it.
    """
    own, own_error = _median_and_error([each.own_s for each in (*runs, *plain)])
    paid, paid_error = _median_and_error([each.planted_s for each in runs])
    looked, _ = _median_and_error([each.planted_s for each in plain])
    effect = (paid - looked) / (own + looked)
    error = effect * math.hypot(own_error / own, paid_error / paid if paid else 0.0)
    changed = median(each.own_s for each in runs) / median(each.own_s for each in plain) - 1
    return _truth(percent, effect, error, changed, len(runs))


def _truth(percent: float, effect: float, error: float, changed: float, rounds: int) -> Truth:
    return Truth(
        planted=percent,
        effect=round(effect * 100, 4),
        error=round(error * 100, 4),
        own=round(changed * 100, 3),
        rounds=rounds,
    )


def _median_and_error(values: Sequence[float]) -> tuple[float, float]:
    """At least six values. The error by the ranks of the values (Thompson 1936), because the time
    of some programs has two modes: there the deviation from the median says nothing of its error.
    """
    interval = quantile_test(values, q=0.0, p=0.5).confidence_interval(CONFIDENCE)
    return median(values), float(interval.high - interval.low) / (2 * NORMAL_95)
