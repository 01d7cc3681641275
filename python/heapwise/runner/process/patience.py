"""How long processes may wait for a core of their own: kernel/breadth.hpp of the bench, check
V26."""

from __future__ import annotations

from dataclasses import dataclass

from heapwise.model import LauncherFacts, SampleFacts

SHARE = 0.8
"""The share of the time that was measured: with a neighbour that never ends, a run takes at most
this much longer."""

MOST_MS = 2000
"""For one process."""


@dataclass
class Patience:
    """The patience of one run. ``quiet_ns``: the least breadth of any sample; 0 until there is
    one."""

    quiet_ns: int = 0
    working_s: float = 0.0
    waited_s: float = 0.0

    def note_sample(self, facts: SampleFacts) -> None:
        seen = [
            int(breadth_ns)
            for breadth_ns in (facts.breadth_before_ns, facts.breadth_after_ns)
            if breadth_ns
        ]
        if seen:
            self.quiet_ns = min(*seen, self.quiet_ns or seen[0])
        waited_s = (facts.waited_ns or 0) / 1e9
        self.waited_s += waited_s
        self.working_s -= waited_s  # which its process counts

    def note_process(self, facts: LauncherFacts) -> None:
        self.working_s += facts.wall_s or 0.0

    def options(self) -> list[str]:
        """For the next process: schema/README.md, section 1."""
        if not self.quiet_ns:
            return []
        left_ms = int(1000 * (SHARE * self.working_s - self.waited_s))
        return [
            "--quiet-ns",
            str(self.quiet_ns),
            "--patience-ms",
            str(min(max(left_ms, 0), MOST_MS)),
        ]
