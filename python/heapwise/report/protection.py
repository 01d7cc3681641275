"""What resisting attacks costs: a comparison and a run of attacks in one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from heapwise.model import Row
from heapwise.report.view import View
from heapwise.study.attacks import price_figure
from heapwise.study.attacks.attack_tables import attack_tables, total
from heapwise.study.attacks.price_figure import Price


@dataclass(frozen=True)
class PriceLine:
    subject: str
    resists: str
    time: str
    stopped: int
    harmless: int
    corrupting: int


@dataclass(frozen=True)
class Prices:
    """What the section shows. source: the run of attacks."""

    figure: Markup
    lines: list[PriceLine]
    source: str


def prices(view: View, views: Sequence[View]) -> Prices | None:
    """None if the run is not a comparison with an allocator that resists, or no run of attacks is
    in the report; the newest one counts."""
    peers = {s.name: s.peer for s in view.run.plan.subjects if s.peer and not s.control}
    group = view.group("wall_time") if view.is_compare else None
    if group is None or all(peer.protection == "plain" for peer in peers.values()):
        return None
    attacks = max(
        (v for v in views if attack_tables(v.result)), default=None, key=lambda v: v.run.created
    )
    if attacks is None:
        return None
    tables = attack_tables(attacks.result)
    found, lines = [], []
    for row in group.rows:
        score, time = (
            total(tables, peers[row.subject].name) if row.subject in peers else None,
            _time(row),
        )
        if score is None or time is None or not score.attacks:
            continue
        found.append(Price(row.subject, time, (score.corrupting + score.hung) / score.attacks))
        lines.append(
            PriceLine(
                row.subject,
                peers[row.subject].protection,
                _words(row, time),
                score.stopped,
                score.harmless,
                score.corrupting + score.hung,
            )
        )
    if not found:
        return None
    figure = price_figure.draw(found, "Attacks that did harm against time")
    return Prices(Markup(figure), lines, attacks.run.id)


def _time(row: Row) -> tuple[float, float, float] | None:
    if row.baseline:
        return (1.0, 1.0, 1.0)
    if row.ratio is None or row.ratio_low is None or row.ratio_high is None:
        return None
    return (row.ratio_low, row.ratio, row.ratio_high)


def _words(row: Row, time: tuple[float, float, float]) -> str:
    low, middle, high = time
    return "baseline" if row.baseline else f"{middle:.3f} ({low:.3f} to {high:.3f})"
