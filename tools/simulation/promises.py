"""What the laboratory promises of its verdicts, each with its name."""

from __future__ import annotations

from dataclasses import replace

from heapwise.stats.claims.limits import FALSE_FAILURES
from simulation.noise import SHAPES
from simulation.scenario import Campaign, Promise

ROUNDS = (3, 4, 5, 6, 8, 14, 31)
EQUAL = (0.0,) * 5
"""Five subjects that are the same as the baseline."""

AT_MOST = 0.01
"""Rows of identical subjects that may be called different."""

COVERAGE = (0.93, 0.98)


def promises() -> dict[str, Promise]:
    """Name -> promise, in reading order."""
    return {
        **_no_verdict(),
        **_identical(),
        **_coverage(),
        **_found(),
        **_printed(),
        **_lead(),
        **_gates(),
        **_advice(),
    }


def _no_verdict() -> dict[str, Promise]:
    return {
        f"no verdict from {rounds} rounds": Promise(
            Campaign(rounds, effects=(0.5,), repeats=9, within=0.001), "decided", high=0.0
        )
        for rounds in (1, 2)
    }


def _identical() -> dict[str, Promise]:
    plain = {f"identical, {rounds} rounds": Campaign(rounds, EQUAL) for rounds in ROUNDS}
    shapes = {
        f"identical, {shape} noise, {rounds} rounds": Campaign(rounds, EQUAL, shape=shape)
        for shape in SHAPES
        if shape != "normal"
        for rounds in (6, 14)
    }
    repeats = Campaign(6, deviation=0.02, repeats=9, within=0.004)
    lost = {
        f"identical, the {loser} lost 1 of 6 rounds": replace(repeats, loser=loser)
        for loser in ("subject", "baseline", "control")
    }
    correlated = {
        f"identical, rounds correlated at 0.5, {rounds} rounds, "
        f"{len(effects)} beside the baseline": Campaign(rounds, effects, correlation=0.5)
        for rounds in ROUNDS
        for effects in (EQUAL[:1], EQUAL)
    }
    return {
        name: Promise(campaign, "different", high=AT_MOST)
        for name, campaign in {**plain, **shapes, **lost, **correlated}.items()
    }


def _coverage() -> dict[str, Promise]:
    return {
        f"interval of the ratio, {shape} noise, {rounds} rounds": Promise(
            Campaign(rounds, (0.05,), shape=shape), "covered", *COVERAGE
        )
        for shape in SHAPES
        for rounds in ROUNDS
    }


def _found() -> dict[str, Promise]:
    return {
        f"1 % {word} is found in 14 rounds": Promise(
            Campaign(14, (effect,), deviation=0.005), "found", low=0.9
        )
        for word, effect in (("more", 0.01), ("less", -0.01))
    }


def _printed() -> dict[str, Promise]:
    return {
        f"the printed difference is found 4 times in 5, {rounds} rounds": Promise(
            Campaign(rounds, deviation=0.005), "found as printed", 0.75, 0.85
        )
        for rounds in ROUNDS
    }


def _lead() -> dict[str, Promise]:
    """Among six subjects, either one is 2 % better than the baseline, or all are."""
    leaders = {"one of 6 leads": (-0.02, *EQUAL), "6 equals lead": (-0.02,) * 6}
    return {
        f"{words} by 2 %, {rounds} rounds: the lead told is too large": Promise(
            Campaign(rounds, effects, deviation=0.005), "lead exceeds", 0.45, 0.55
        )
        for rounds in (6, 14)
        for words, effects in leaders.items()
    }


def _gates() -> dict[str, Promise]:
    """With a limit of 3 %, and as many rounds as a program of a second has in three minutes."""
    gate = Campaign(rounds=60, limit=0.03)
    same = {
        "": gate,
        ", heavy noise": replace(gate, shape="heavy", deviation=0.02),
        ", rounds correlated at 0.5": replace(gate, deviation=0.02, correlation=0.5),
    }
    at_limit = {
        "": gate,
        ", skewed noise": replace(gate, shape="skewed", deviation=0.003),
        ", rounds correlated at 0.5": replace(gate, deviation=0.003, correlation=0.5),
    }
    fails = {f"gate of identical builds fails{words}": one for words, one in same.items()} | {
        f"gate of a change that is the limit fails{words}": replace(one, effects=(0.03,))
        for words, one in at_limit.items()
    }
    fails["gate of rare runs that raise the mean by the limit fails"] = Campaign(
        rounds=200, limit=0.1, deviation=0.003, rare=(0.1, 0.0)
    )
    finds = {
        f"gate finds the limit and twice the noise floor, {deviation:.1%} noise": replace(
            gate, deviation=deviation
        )
        for deviation in (0.003, 0.01, 0.02)
    }
    return {
        name: Promise(one, "gate fails", high=FALSE_FAILURES, times=3)
        for name, one in fails.items()
    } | {name: Promise(one, "gate finds", low=0.95) for name, one in finds.items()}


def _advice() -> dict[str, Promise]:
    """Eight candidates are the most that a trace can have. A gain of 3 % is that of a good pool."""
    shapes: dict[str, Campaign] = {
        "": Campaign(rounds=0, advises=True),
        ", heavy noise": Campaign(rounds=0, advises=True, shape="heavy"),
        ", rounds correlated at 0.5": Campaign(rounds=0, advises=True, correlation=0.5),
    }
    others = {
        "nothing to gain": (0.0,),
        "nothing to gain at 8 sites": (0.0,) * 8,
        "1 of 8 sites gains": (-0.03, *(0.0,) * 7),
        "1 of 8 sites gains, 7 lose": (-0.03, *(0.02,) * 7),
    }
    vain = {
        f"advice in vain, {site}, {rounds} rounds{words}": Promise(
            replace(one, rounds=rounds, effects=effects), "advised in vain", high=AT_MOST
        )
        for site, effects in others.items()
        for rounds in (6, 14)
        for words, one in shapes.items()
        if not words or rounds > 6
    }
    right = {
        f"advice names the site that gains {-first:.0%} first, 8 sites, {rounds} rounds": Promise(
            Campaign(rounds, (first, *(0.0,) * 7), advises=True), "advised first", low=0.9
        )
        for first, rounds in ((-0.03, 20), (-0.05, 14))
    }
    return vain | right
