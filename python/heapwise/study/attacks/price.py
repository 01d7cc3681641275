"""What allocators that resist attacks cost on the user's program, beside what they stop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapwise.document import Passage, Plot, plain_table, table_cell
from heapwise.document.terminal import terminal
from heapwise.model import ATTACKS, Peer, Result, Row
from heapwise.study.attacks import price_figure
from heapwise.study.attacks.attack_tables import AttackTable, attack_tables, total
from heapwise.study.attacks.price_figure import Price
from heapwise.study.experiments.cell_tables import missing
from heapwise.study.program.compare_table import scale_of
from heapwise.wording.numbers import Scale
from heapwise.wording.ratios import interval, relation

PLAIN = ("glibc", "heapwise")
"""What the others are compared with: the system's malloc, and ours as most use it."""

COUNTS = ("stopped", "harmless", "corrupting or hung")


def protected_names(peers: Sequence[Peer]) -> list[str]:
    """Those that are here and built to resist, behind the plain ones."""
    here = {peer.name: peer for peer in peers if peer.path is not None}
    return [
        *(name for name in PLAIN if name in here),
        *(name for name, peer in here.items() if peer.protection != "plain"),
    ]


def price_passages(result: Result, tables: Sequence[AttackTable], run: str) -> list[Passage]:
    """A line for each allocator: how far it is built to resist, its price on this program, and what
    it stopped in the attacks of ``run``. tables: empty if there are none."""
    peers = {s.name: s.peer for s in result.run.plan.subjects if s.peer and not s.control}
    times, memory = (_rows(result, quantity) for quantity in ("wall_time", "peak_memory"))
    scales = scale_of(times), scale_of(memory)
    lines = [
        [
            name,
            peer.protection,
            *(
                _price(rows.get(name), scale)
                for rows, scale in zip((times, memory), scales, strict=True)
            ),
            *_stops(tables, peer.name),
        ]
        for name, peer in peers.items()
    ]
    head = [
        table_cell("allocator", ""),
        table_cell("built to resist", "resists"),
        *map(table_cell, ("time", "peak memory", *(COUNTS if tables else ()))),
    ]
    table = plain_table([head, *lines])
    prices = _prices(times, peers, tables)
    return [_figure(prices, run), table] if prices else [table]


def price_text(result: Result, store: Path) -> str:
    """On a terminal, beside the newest run of attacks in the store."""
    run, tables = _newest_attacks(store)
    source = (
        f"Attacks of run {run}. As a figure: heapwise report {result.run.id} {run}"
        if tables
        else "What each stops: heapwise run attacks, once in this store."
    )
    return f"{terminal(price_passages(result, tables, run))}\n{source}"


def _figure(prices: list[Price], run: str) -> Plot:
    return Plot(
        price_figure.draw(prices, "Attacks that did harm against time"),
        "Left is faster on this program, down is safer: the share of the attacks of run "
        f"{run} that corrupted or hung the process. Time is relative to the baseline, with its "
        "95 % interval.",
    )


def _prices(
    times: dict[str, Row], peers: dict[str, Peer], tables: Sequence[AttackTable]
) -> list[Price]:
    """Allocators of which both the time and the attacks are known."""
    prices = []
    for name, row in times.items():
        score = total(tables, peers[name].name) if name in peers else None
        ratio = _ratio(row)
        if score is not None and ratio is not None and score.attacks:
            harm = (score.corrupting + score.hung) / score.attacks
            prices.append(Price(name, ratio, harm))
    return prices


def _ratio(row: Row) -> tuple[float, float, float] | None:
    if row.baseline:
        return (1.0, 1.0, 1.0)
    if row.ratio is None or row.ratio_low is None or row.ratio_high is None:
        return None
    return (row.ratio_low, row.ratio, row.ratio_high)


def _price(row: Row | None, scale: Scale) -> str:
    """Against the baseline, with the interval; the baseline has its absolute figure."""
    if row is None or row.median is None:
        return missing(row)
    between = "" if row.baseline else interval(row)
    return f"{relation(row)}, {between}" if between else scale.text(row.median)


def _rows(result: Result, quantity: str) -> dict[str, Row]:
    """The rows of the first cell, by their subjects."""
    found: dict[str, Row] = {}
    for row in result.rows:
        if row.quantity == quantity:
            found.setdefault(row.subject, row)
    return found


def _newest_attacks(store: Path) -> tuple[str, list[AttackTable]]:
    """The id of the run; both empty if there is none."""
    from heapwise.analysis import analyse
    from heapwise.evidence import Evidence
    from heapwise.store import read_run, run_ids

    for name in reversed(run_ids(store)):
        stored = read_run(store, name)
        if any(e.family == ATTACKS for e in stored.run.experiments) and stored.samples:
            return stored.run.id, attack_tables(analyse(Evidence(stored)))
    return "", []


def _stops(tables: Sequence[AttackTable], peer: str) -> list[str]:
    """Counts over all experiments of attacks."""
    score = total(tables, peer)
    if score is None:
        return ["-", "-", "-"] if tables else []
    return [str(score.stopped), str(score.harmless), str(score.corrupting + score.hung)]
