"""The model of docs/many-cores.md, on counts that were made up."""

from __future__ import annotations

import pytest

from workshop.many_cores import CacheLine, Counts, Lock, Machine, cap, peak_bytes, read_counts

OUTPUT = """heapwise malloc, profile default
sharing clock now_ns=20
sharing lock bin locks=40 acquisitions=200 contended=3 handovers=9 hold_ns=60000 p99_hold_ns=512 \
longest_ns=900 interrupted=1 busiest_acquisitions=100 busiest_handovers=9 busiest_hold_ns=42000
sharing line bin_figures writes=500 handovers=7
"""

MACHINE = Machine(transfer_ns=100, operation_ns=20)


def counts_of(**lines: CacheLine) -> Counts:
    return Counts(operations=1000, lines=lines)


def lock_of(acquisitions: int, hold_ns: int) -> Lock:
    return Lock(
        locks=1,
        acquisitions=acquisitions,
        contended=0,
        handovers=0,
        hold_ns=hold_ns,
        p99_hold_ns=0,
        longest_ns=0,
        interrupted=0,
        busiest_acquisitions=acquisitions,
        busiest_handovers=0,
        busiest_hold_ns=hold_ns,
    )


def test_reads_what_the_heap_writes() -> None:
    counts = read_counts(OUTPUT, operations=1000)
    assert counts.clock_ns == 20
    assert counts.locks["bin"].busiest_hold_ns == 42000
    assert counts.lines["bin_figures"] == CacheLine(writes=500, handovers=7)
    assert counts.per_million(counts.locks["bin"].contended) == 3000


def test_memory_is_the_peak_of_the_samples() -> None:
    output = (
        '{"kind":"start","schema":1}\n'
        '{"kind":"sample","repeat":0,"values":{"operation":87.3,"peak_resident":856064}}\n'
        '{"kind":"sample","repeat":1,"values":{"operation":88.1,"peak_resident":850000}}\n'
    )
    assert peak_bytes(output) == 856064


def test_without_anything_shared_the_processors_are_the_limit() -> None:
    assert cap(counts_of(), 64, MACHINE).millions == 64 * 50
    assert cap(counts_of(), 64, MACHINE).limit == "the processors"


def test_a_line_that_each_operation_writes_is_the_limit() -> None:
    most = cap(counts_of(bin_figures=CacheLine(writes=1000, handovers=0)), 4, MACHINE)
    assert most.limit == "line of bin_figures"
    assert most.millions == pytest.approx(1e3 / 75)  # three of four writes come from elsewhere


def test_a_lock_is_held_for_its_work_and_for_its_lines() -> None:
    counts = Counts(operations=1000, clock_ns=20, locks={"idle_caches": lock_of(1000, 70_000)})
    most = cap(counts, 4, MACHINE)
    assert most.limit == "lock of idle_caches"
    assert most.millions == pytest.approx(1e3 / (50 + 2 * 75))


def test_one_processor_waits_for_nobody() -> None:
    counts = Counts(operations=1000, locks={"idle_caches": lock_of(1000, 10_000)})
    assert cap(counts, 1, MACHINE).limit == "the processors"
