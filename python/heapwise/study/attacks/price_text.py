"""What allocators that resist attacks cost on the user's program, beside what they stop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapwise.document.aligned import align
from heapwise.model import ATTACKS, Peer, Result, Row
from heapwise.study.attacks.attack_tables import AttackTable, attack_tables, total
from heapwise.study.program.compare_table import cells_of, scale_of

PLAIN = ("glibc", "heapwise")
"""What the others are compared with: the system's malloc, and ours as most use it."""


def protected_names(peers: Sequence[Peer]) -> list[str]:
    """Those that are here and built to resist, behind the plain ones."""
    here = {peer.name: peer for peer in peers if peer.path is not None}
    return [
        *(name for name in PLAIN if name in here),
        *(name for name, peer in here.items() if peer.protection != "plain"),
    ]


def protection_text(result: Result, store: Path) -> str:
    """A line for each allocator: how far it is built to resist, its price on this program, and what
    the newest run of attacks in the store says that it stopped."""
    run, tables = _newest_attacks(store)
    peers = {s.name: s.peer for s in result.run.plan.subjects if s.peer and not s.control}
    times, memory = (_rows(result, quantity) for quantity in ("wall_time", "peak_memory"))
    scales = scale_of(times, "s"), scale_of(memory, "bytes")
    lines = [
        [
            "",
            "resists",
            "time",
            "peak memory",
            *(("stopped", "harmless", "corrupting") if tables else ()),
        ]
    ]
    for name, peer in peers.items():
        prices = [
            _price(cells_of(rows.get(name), scale))
            for rows, scale in zip((times, memory), scales, strict=True)
        ]
        lines.append([name, peer.protection, *prices, *_stops(tables, name)])
    source = (
        (
            f"Stopped, harmless and corrupting: of the attacks of run {run}. As a figure: "
            f"heapwise report {result.run.id} {run}"
        )
        if tables
        else "What each stops: heapwise run attacks, once in this store."
    )
    return f"{align(lines)}\n{source}"


def _price(cells: Sequence[str]) -> str:
    """Against the baseline, with the interval; the baseline has its absolute figure."""
    absolute, relation, interval = cells
    return f"{relation}, {interval}" if interval else absolute


def _rows(result: Result, quantity: str) -> dict[str, Row]:
    """Of the first cell."""
    found: dict[str, Row] = {}
    for row in result.rows:
        if row.quantity == quantity:
            found.setdefault(row.subject, row)
    return found


def _newest_attacks(store: Path) -> tuple[str, list[AttackTable]]:
    """Its id; both empty if there is none."""
    from heapwise.analysis import analyse
    from heapwise.evidence import Evidence
    from heapwise.store import read_run, run_ids

    for name in reversed(run_ids(store)):
        stored = read_run(store, name)
        if any(e.family == ATTACKS for e in stored.run.experiments) and stored.samples:
            return stored.run.id, attack_tables(analyse(Evidence(stored)))
    return "", []


def _stops(tables: Sequence[AttackTable], peer: str) -> list[str]:
    """Over all experiments of attacks."""
    score = total(tables, peer)
    if score is None:
        return ["-", "-", "-"] if tables else []
    return [str(score.stopped), str(score.harmless), str(score.corrupting + score.hung)]
