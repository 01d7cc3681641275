"""Which runs a check applies to: the one place that chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapwise.evidence import Evidence
from heapwise.model import Check, Traits

Look = Callable[[Evidence], Check]

To = Callable[[Traits], bool]


def programs(traits: Traits) -> bool:
    """Runs that measure programs of the user from outside."""
    return traits.whole_programs


def experiments(traits: Traits) -> bool:
    """All other runs: those whose processes measure themselves."""
    return not programs(traits)


def servers(traits: Traits) -> bool:
    """Runs in which a generator loads a server."""
    return traits.under_load


@dataclass(frozen=True)
class Applies:
    """The ``check`` of a module that does not look at all runs alike; a module whose ``check`` is a
    function applies to every run.

    to: the runs that ``look`` is for. others: how the others are looked at, or why the check does
    not apply to them.
    """

    id: str
    title: str
    to: To
    look: Look
    others: Look | str

    def __call__(self, evidence: Evidence) -> Check:
        if self.to(evidence.stored.run.plan.traits):
            return self.look(evidence)
        if isinstance(self.others, str):
            return Check(self.id, self.title, "unavailable", self.others)
        return self.others(evidence)
