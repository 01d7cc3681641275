"""Looks for the commit that changed a count. One process of a commit says on which side it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from heapwise.runner.commits.bisection import Bisection, BisectionResult, Interrupted
from heapwise.runner.commits.exact_counts import ExactCounts
from heapwise.runner.commits.suspects import SuspectState

SMALLER = "it makes less than half of the difference between the ends"


@dataclass
class CountedBisection(Bisection):
    """``metric`` is one of ``OF_COUNTS``. Trees of all commits have paths of one length, so that
    programs which allocate by the length of their path have equal counts."""

    _counts: dict[str, list[int]] = field(default_factory=dict)

    def _stage(self, chosen: list[str]) -> bool:
        if not self._are_apart():
            return False
        self.learned.whole = self._step(self.suspects.commits[0], self.suspects.commits[-1])
        for commit in chosen:
            self._note(commit, self._side(commit))
        return True

    def _confirmed(self, before: str, after: str) -> BisectionResult:
        """Counts have no noise that fresh rounds could tell from a change."""
        good, bad = self.suspects.commits[0], self.suspects.commits[-1]
        step, whole = self._step(before, after), self._step(good, bad)
        counts = (self._middle(before), self._middle(after))
        between = [before, after]
        if step * whole <= 0 or abs(step) < abs(whole) / 2:
            return BisectionResult("", between, SMALLER, counts=counts)
        return BisectionResult(after, between, "", counts=counts)

    def _are_apart(self) -> bool:
        """Whether no count of one end is within those of the other."""
        good, bad = (self._of(self.suspects.commits[end]) for end in (0, -1))
        return max(good) < min(bad) or max(bad) < min(good)

    def _side(self, commit: str) -> SuspectState:
        """The end to which all counts of the commit are nearer."""
        good, bad = (self._middle(self.suspects.commits[end]) for end in (0, -1))
        shares = [(count - good) / (bad - good) for count in self._of(commit)]
        if max(shares) < 0.5:
            return "like good"
        return "like bad" if min(shares) > 0.5 else "cannot tell"

    def _step(self, before: str, after: str) -> float:
        return float(self._middle(after) - self._middle(before))

    def _middle(self, commit: str) -> int:
        found = sorted(self._of(commit))
        return found[len(found) // 2]

    def _of(self, commit: str) -> list[int]:
        if commit not in self._counts:
            command = [str(self.trees.built(commit)), *self.command[1:]]
            try:
                self._counts[commit] = ExactCounts(self.metric, self.request).of(command)
            except KeyboardInterrupt as stopped:
                raise Interrupted from stopped
        return self._counts[commit]
