"""What the programs of a comparison ask of malloc, where that was counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from heapwise.evidence.demand import Counts, Demand, counts_of, demands_of
from heapwise.evidence.evidence import Evidence
from heapwise.model import Setup


@dataclass(frozen=True)
class MallocCalls:
    """Immutable, like the evidence. ``calls_of`` makes one for each evidence."""

    evidence: Evidence

    @cached_property
    def demands(self) -> dict[Setup, Demand]:
        """Setup -> what the program of a comparison asks of malloc, where that was counted."""
        if not self.references:
            return {}
        return demands_of(self.evidence.stored, self.evidence.labels)

    @cached_property
    def demand(self) -> Demand | None:
        """The demand of the first setup that was counted."""
        return next(iter(self.demands.values()), None)

    def hardly_allocates(self, setup: Setup) -> bool:
        """Whether that explains why no allocator was found to be faster there. Several builds can
        differ in everything."""
        demand = self.demands.get(setup)
        return demand is not None and demand.is_too_small and not self.evidence.compares_builds

    @cached_property
    def counts(self) -> Counts | None:
        """Calls of malloc under each allocator, of the baseline's build in its first setup; None if
        the run is not a comparison."""
        return next(iter(self.all_counts), None)

    @cached_property
    def all_counts(self) -> list[Counts]:
        """The same of each build in each setup, the baseline's build first."""
        if not self.evidence.baselines:
            return []
        setups: list[Setup | None] = [
            *dict.fromkeys(p.setup for p in self.evidence.stored.processes if p.facts.counting)
        ] or [None]
        control = next(iter(self.evidence.controls.values()), "")
        return [
            counts_of(
                self.evidence.stored, base, control if base in self.evidence.labels else "", setup
            )
            for setup in setups
            for base in self.references.values()
        ]

    @cached_property
    def references(self) -> dict[str, str]:
        """Build of a comparison -> the subject that shows what all of that build have to do. The
        baseline's is first. Empty if the run is not a comparison."""
        found = dict(self.evidence.stored.run.plan.examples)
        if not found:
            return {}
        for baseline in self.evidence.baselines.values():
            build = self.evidence.build_of(baseline)
            found = {build: baseline} | {b: s for b, s in found.items() if b != build}
        return found


def calls_of(evidence: Evidence) -> MallocCalls:
    """The same object at each call."""
    return evidence.once(MallocCalls)
