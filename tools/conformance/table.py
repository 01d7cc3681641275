"""The page of differences: what a program sees that is moved from the C library to Heapwise."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.observe import Row, Sight

PAGE = Path(__file__).resolve().parents[2] / "docs" / "differences-from-glibc.md"
NOT_PROMISED = "neither documents the result"


def differences(theirs: Iterable[Sight], ours: Iterable[Sight]) -> Iterator[tuple[Row, Row]]:
    """Every row that is not the same, as (theirs, ours), in the order of the programs."""
    seen = {(row.item, row.what): row for sight in theirs for row in sight.rows}
    for sight in ours:
        for row in sight.rows:
            other = seen.get((row.item, row.what))
            if other is not None and row.item != "program" and other.value != row.value:
                yield other, row


def version() -> str:
    """The C library of this host, for instance "glibc 2.36"."""
    return " ".join(platform.libc_ver())


def number(row: Row) -> int:
    return int(row.item.removeprefix("B1-"))


def page(theirs: Iterable[Sight], ours: Iterable[Sight]) -> str:
    """The whole page. It is made, never written: ``tools/differences`` makes it again."""
    pairs = sorted(differences(theirs, ours), key=lambda pair: number(pair[1]))
    lines = [
        f"# Differences from {version()}",
        "",
        "Made by `tools/differences`, which runs the same programs with both. A test fails if this",
        "page differs from its output. In all other questions of the conformance tests, both",
        "behave alike. A test has the number of its item in its name.",
        "",
        "| item | call or question | glibc | Heapwise | reason |",
        "|---|---|---|---|---|",
    ]
    for other, row in pairs:
        why = row.why or NOT_PROMISED
        lines.append(f"| {row.item} | {row.what} | {other.value} | {row.value} | {why} |")
    return "\n".join(lines) + "\n"
