"""What resisting attacks costs: a comparison and a run of attacks in one report."""

from __future__ import annotations

from collections.abc import Sequence

from heapwise.document import Passage
from heapwise.report.view import View
from heapwise.study.attacks.attack_tables import attack_tables
from heapwise.study.attacks.price import price_passages


def prices(view: View, views: Sequence[View]) -> list[Passage]:
    """Empty if the run is not a comparison with an allocator that resists, or no run of attacks is
    in the report; the newest one counts."""
    peers = [s.peer for s in view.run.plan.subjects if s.peer and not s.control]
    if not view.is_compare or all(peer.protection == "plain" for peer in peers):
        return []
    attacks = max(
        (v for v in views if attack_tables(v.result)), default=None, key=lambda v: v.run.created
    )
    if attacks is None:
        return []
    return price_passages(view.result, attack_tables(attacks.result), attacks.run.id)
