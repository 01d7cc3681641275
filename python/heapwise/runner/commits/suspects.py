"""Which commits of a range may have made the change, and which to measure next."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import log, log2
from typing import Literal

SuspectState = Literal["like good", "like bad", "skipped", "cannot tell"]

AT_ONCE = 3
"""Commits of a stage beside both ends. Each stage leaves a quarter of the range."""


@dataclass
class Suspects:
    """commits: from the good end, which is first, to the bad one."""

    commits: list[str]
    states: dict[str, SuspectState] = field(default_factory=dict)

    @property
    def ends(self) -> tuple[int, int]:
        """The places of the last commit that is like the good end before one like the bad end, and
        of the first such after it. The change is after the first one and not after the second."""
        known = [
            (place, self.states[commit])
            for place, commit in enumerate(self.commits)
            if self.states.get(commit) in ("like good", "like bad")
        ]
        known = [
            (0, "like good"),
            *(pair for pair in known if 0 < pair[0] < len(self.commits) - 1),
            (len(self.commits) - 1, "like bad"),
        ]
        return next(
            (low, high)
            for (low, below), (high, above) in reversed(list(pairwise(known)))
            if (below, above) == ("like good", "like bad")
        )

    @property
    def went_back(self) -> bool:
        """Whether the level changed more than once."""
        known = [
            state
            for commit in self.commits
            if (state := self.states.get(commit)) in ("like good", "like bad")
        ]
        return "like bad" in known and "like good" in known[known.index("like bad") :]

    @property
    def open(self) -> list[int]:
        """Places of commits inside of the range of which nothing is known."""
        low, high = self.ends
        return [place for place in range(low + 1, high) if self.commits[place] not in self.states]

    def next(self) -> list[str]:
        """Up to ``AT_ONCE`` that divide the open ones into even parts."""
        places = self.open
        count = min(AT_ONCE, len(places))
        chosen = {places[(number * len(places)) // (count + 1)] for number in range(1, count + 1)}
        return [self.commits[place] for place in sorted(chosen)]

    @property
    def stages_left(self) -> int:
        """About how many stages are left, with the one that confirms the answer."""
        return 1 + (round(log2(len(self.open) + 1) / log2(AT_ONCE + 1) + 0.49) if self.open else 0)


def side_of(ratio: tuple[float, float], whole: float) -> SuspectState:
    """The side of a commit whose time over the good end's lies in an interval. whole: that ratio of
    the bad end. It belongs to the end to which the whole interval is nearer, on the logarithmic
    scale."""
    shares = sorted(log(end) / log(whole) for end in ratio)
    if shares[1] < 0.5:
        return "like good"
    return "like bad" if shares[0] > 0.5 else "cannot tell"
