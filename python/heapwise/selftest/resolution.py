"""How small a difference this machine can show, in the time that a comparison takes by default."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from math import log
from statistics import median

from heapwise.evidence import Evidence, comparisons_of, measured
from heapwise.model import Planted
from heapwise.stats.ratios.noise import detectable_in
from heapwise.wording.numbers import percent, show

CHECK, PLANTED = "V5", "the same program under two labels"

TIME_S = 180.0
"""The time of a comparison without ``--time``."""

LABELS = 3
"""Processes of a round that compares one thing with the baseline and its second label."""

LEAST_ROUNDS = 3
FEWEST_PAIRS = 6


def resolution(evidence: Evidence) -> Planted:
    """``differences of 1.2 % in 3 minutes``: those that a comparison finds 4 times in 5."""
    cell = next(
        (c for c in comparisons_of(evidence).control_pairs if c.quantity == "wall_time"), None
    )
    pairs = comparisons_of(evidence).control_pairs[cell] if cell is not None else None
    if pairs is None or len(pairs.rounds) < FEWEST_PAIRS:
        return Planted(CHECK, PLANTED, "too noisy", "too few rounds were kept to tell")
    logs = [log(above / below) for above, below in zip(pairs.above, pairs.below, strict=True)]
    rounds = max(LEAST_ROUNDS, int(TIME_S / (LABELS * seconds_of_a_process(evidence))))
    found = detectable_in(logs, rounds)
    length = median(p.facts.wall_s for p in measured(evidence.stored) if p.facts.wall_s)
    words = (
        f"differences of {percent(found)} in {TIME_S / 60:.0f} minutes, 4 times in 5, between two "
        f"programs of {show(length, 's')} in separate processes"
    )
    return Planted(CHECK, PLANTED, "found", words, found)


def seconds_of_a_process(evidence: Evidence) -> float:
    """With all that is done around it."""
    starts = sorted(
        datetime.fromisoformat(process.started_at).timestamp()
        for process in measured(evidence.stored)
        if process.started_at
    )
    steps = [later - before for before, later in pairwise(starts)]
    return max(0.001, median(steps)) if steps else TIME_S
