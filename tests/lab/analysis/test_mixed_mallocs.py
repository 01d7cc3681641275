"""A program under which every allocator is given foreign blocks is told from one bad allocator."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs
from synthetic import pool_run

from heapwise.analysis.summary.mixed_mallocs import WHY, mixed_mallocs
from heapwise.model import Process

ANY = pool_run(rounds=6).processes[0]


def crashed(said: str) -> list[Process]:
    return [replace(ANY, status="crashed", facts=structs.replace(ANY.facts, stderr_tail=said))]


GLIBC = crashed("free(): invalid pointer")
OURS = crashed("heapwise: invalid free of 0x7f7fc1a43000: it is not an address of this heap.")
OTHER = crashed("Segmentation fault")


def test_allocators_that_were_all_given_foreign_blocks_are_not_to_blame() -> None:
    assert mixed_mallocs({"a": GLIBC, "b": OURS}) == WHY


def test_one_allocator_or_another_end_says_nothing() -> None:
    assert mixed_mallocs({"a": GLIBC}) == ""
    assert mixed_mallocs({"a": GLIBC, "b": OTHER}) == ""
    assert mixed_mallocs({"a": GLIBC, "b": crashed("")}) == ""
    assert mixed_mallocs({}) == ""
