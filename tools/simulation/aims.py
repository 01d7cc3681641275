"""What a comparison of three minutes should tell, and what it must not, each with its aim.

An aim need not be reached: the table says which are. ``python -m simulation --aims`` prints it.
"""

from __future__ import annotations

from dataclasses import replace

from simulation.promises import AT_MOST, COVERAGE, EQUAL
from simulation.scenario import Campaign, Promise

SIX = 28
"""Rounds of six allocators in three minutes, of a program of 0.7 s."""

PAIRS, GROUPS = 120, 56
"""Rounds side by side in three minutes: of a pair, and of six allocators in one group."""

PAIR, GROUP = 0.035 / 2**0.5, 0.02 / 2**0.5
"""Deviation of one side, beside a neighbour: as measured on a virtual machine at a load of 12 to 30
(docs/design/statistics.md#side-by-side)."""


def aims() -> dict[str, Promise]:
    """Name -> what is simulated and aimed at, in reading order."""
    return {
        **_told(),
        **_few_groups(),
        **_raced(),
        **_days(),
        **_never(),
        **_covered(),
        **_calibrated(),
    }


def _few_groups() -> dict[str, Promise]:
    """Twelve allocators on a busy machine: three rounds side by side are the least that has an
    interval. All twelve have the effect."""
    promises = {
        f"side by side, twelve allocators, {rounds} rounds: {effect:.0%} is told": Promise(
            Campaign(rounds, (effect,) * 12, deviation=GROUP, compares=True), "found", low=aim
        )
        for rounds, effect, aim in ((3, 0.1, 0.8), (5, 0.05, 0.8), (8, 0.05, 0.9), (8, 0.03, 0.5))
    }
    return promises | {
        f"identical, called different: side by side, twelve allocators, {shape} noise, "
        f"{rounds} rounds": Promise(
            Campaign(rounds, (0.0,) * 12, shape=shape, deviation=GROUP, compares=True),
            "different",
            high=AT_MOST,
        )
        for shape in ("normal", "skewed", "heavy")
        for rounds in (3, 5)
    }


def _days() -> dict[str, Promise]:
    """Two days that do not differ for the subjects: what the caution costs."""
    return {
        f"two days, {number} subjects: 5 % is told in 14 rounds": Promise(
            Campaign(14, (0.05,) * number, days=1e-9, compares=True), "found", low=0.8
        )
        for number in (1, 5)
    }


def _told() -> dict[str, Promise]:
    """The effect is that of the first subject; the others of six are like the baseline."""
    plans = {
        ("six allocators, noise 0.5 %", SIX, 0.005, 6): {0.01: 0.99, 0.005: 0.7},
        ("six allocators, noise 1.8 %", SIX, 0.018, 6): {0.01: 0.6, 0.02: 0.99},
        ("side by side, one pair", PAIRS, PAIR, 1): {0.02: 0.8, 0.05: 0.99, 0.1: 1.0},
        ("side by side, six allocators", GROUPS, GROUP, 6): {0.05: 0.8, 0.1: 0.99},
    }
    return {
        f"{words}: {effect:.1%} is told": Promise(
            Campaign(rounds, (effect,) * number, deviation=deviation, compares=True),
            "found",
            low=aim,
        )
        for (words, rounds, deviation, number), effects in plans.items()
        for effect, aim in effects.items()
    }


def _raced() -> dict[str, Promise]:
    """Six allocators as in README's table: five differ by 3 to 13 %, the first by less."""
    others = (0.03, 0.05, -0.05, 0.08, 0.13)
    equals = (0.0, 0.0, *others[1:])
    noise = Campaign(SIX, deviation=0.018, compares=True)
    return {
        f"six allocators, noise 1.8 %, racing: {effect:.1%} is told": Promise(
            replace(noise, effects=(effect, *others)), "race finds", low=aim
        )
        for effect, aim in {0.01: 0.6, 0.02: 0.99}.items()
    } | {
        f"identical, called different in a race, {words}": Promise(
            one, "race differs", high=AT_MOST
        )
        for words, one in {
            "2 of 6 equal": replace(noise, effects=equals),
            "5 equal": replace(noise, effects=EQUAL),
            "rounds correlated at 0.5": replace(noise, effects=equals, correlation=0.5),
        }.items()
    }


def _never() -> dict[str, Promise]:
    """Promises for identical subjects. The second label of the baseline has none of their noise."""
    kinds = {
        **{
            f"rounds correlated at 0.5, {number} of them, {len(equal)} subjects": Campaign(
                number, equal, correlation=0.5, compares=True
            )
            for number in (4, 6, 9, 14, 31)
            for equal in (EQUAL[:1], EQUAL)
        },
        **{
            f"{shape} noise, {number} rounds": Campaign(number, EQUAL, shape=shape, compares=True)
            for shape in ("normal", "skewed", "bimodal", "heavy")
            for number in (4, 6, 9, 14, 31)
        },
        "one subject scatters 4 times as much, 6 rounds": Campaign(
            6, EQUAL, scatter=4.0, compares=True
        ),
        "one subject scatters 4 times as much, 14 rounds": Campaign(
            14, EQUAL, scatter=4.0, compares=True
        ),
        "one subject drifts at 0.8": Campaign(14, EQUAL, drifts=0.8, compares=True),
        "slower by 1 % after the first of 1": Campaign(
            31, EQUAL[:1], deviation=0.004, after=0.01, compares=True
        ),
        "slower by 3 % after the first of 1": Campaign(
            60, EQUAL[:1], deviation=0.004, after=0.03, compares=True
        ),
        "slower by 3 % after the first of 5": Campaign(
            60, EQUAL, deviation=0.004, after=0.03, compares=True
        ),
        "two days that differ by 1 %": Campaign(14, EQUAL, days=0.01, compares=True),
        "two days that differ by 1 %, 31 rounds": Campaign(31, EQUAL, days=0.01, compares=True),
        "two days, one subject, 31 rounds": Campaign(31, EQUAL[:1], days=0.01, compares=True),
    }
    return {
        f"identical, called different: {words}": Promise(one, "different", high=AT_MOST)
        for words, one in kinds.items()
    }


def _covered() -> dict[str, Promise]:
    return {
        f"interval holds the truth, rounds correlated at {correlation}, {rounds} rounds": Promise(
            Campaign(rounds, EQUAL[:1], correlation=correlation, compares=True),
            "covered",
            *COVERAGE,
        )
        for correlation in (0.3, 0.5)
        for rounds in (6, 9, 14, 31)
    }


def _calibrated() -> dict[str, Promise]:
    """A noise that the model does not contain: each label has a state of its own for a whole run,
    of 1.5 times the deviation of its mean. And what a calibration costs if there is none."""
    plain = Campaign(14, (0.0,), compares=True)
    wrong = replace(plain, states=WRONG_STATES)
    return {
        f"interval holds the truth, {words}, {known} earlier runs": Promise(
            replace(one, earlier=known), "covered", *(bounds if known else (0.0, 1.0))
        )
        for words, one, bounds in (
            ("states of runs", wrong, (0.9, 0.98)),
            ("no states", plain, (0.93, 0.99)),
        )
        for known in (0, 20)
    } | {
        f"1.5 % is told, no states, {known} earlier runs": Promise(
            replace(plain, effects=(0.015,), earlier=known), "found", low=0.0
        )
        for known in (0, 20)
    }


WRONG_STATES = 1.5 * 0.01 / 14**0.5
"""Against the deviation of the mean of one label; so errors are 1.8 times as large."""
