"""The peak of a whole tree, and when the mark of the largest process is only a part of it."""

from __future__ import annotations

import pytest

from heapwise.evidence.gate_memory import ENOUGH, is_more_than_one_process
from heapwise.model import Identity, MemoryCurve, Process, ProcessFacts
from heapwise.runner.executors.whole_program import memory_values


def test_the_sampled_peak_is_never_below_the_mark_of_one_process() -> None:
    """The looks can miss the moment, and the kernel does not."""
    curve = MemoryCurve(looks=ENOUGH, peak_kib=100)
    assert memory_values(curve, 200 * 1024)["tree_peak"] == 200 * 1024
    assert memory_values(curve, 50 * 1024)["tree_peak"] == 100 * 1024
    assert memory_values(MemoryCurve(looks=ENOUGH - 1), 50) == {}


def process(curve: MemoryCurve | None, identities: int = 1, *, counting: bool = False) -> Process:
    facts = ProcessFacts(memory=curve, counting=counting)
    return Process(
        0, "compare", "new", {}, 0, "ok", facts=facts, identity=[Identity(exe="/x")] * identities
    )


@pytest.mark.parametrize(
    ("found", "several"),
    [
        (process(MemoryCurve(looks=9, peak_kib=1000, processes=[1, 1])), False),
        (process(MemoryCurve(looks=9, peak_kib=1000, processes=[1, 3])), True),
        (process(MemoryCurve(looks=9, peak_kib=1000, processes=[1], most_unmapped_kib=500)), True),
        (process(MemoryCurve(looks=9, peak_kib=1000, processes=[1], most_unmapped_kib=5)), False),
        (process(None), False),
        (process(None, 2), True),
        (process(None, 2, counting=True), False),
    ],
)
def test_programs_with_more_memory_than_their_largest_process(
    found: Process, several: bool
) -> None:
    assert is_more_than_one_process([found]) is several
