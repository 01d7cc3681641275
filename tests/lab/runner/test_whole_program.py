"""What one process of a program yields, from the launcher's facts."""

from __future__ import annotations

from heapwise.model import LauncherFacts, MemoryCurve
from heapwise.runner.executors.program import QUANTITIES
from heapwise.runner.executors.whole_program import measured_values

MIB = 2**20


def curve(kib: int, processes: list[int]) -> MemoryCurve:
    return MemoryCurve(
        looks=9,
        peak_kib=kib,
        last_kib=kib,
        processes=processes,
        at_ms=[100 * at for at in range(len(processes))],
        proportional_kib=[kib] * len(processes),
    )


def values(peak: int, memory: MemoryCurve | None) -> dict[str, float]:
    return measured_values(LauncherFacts(peak_rss_bytes=peak, memory=memory), QUANTITIES)


def test_the_memory_of_a_program_is_that_of_all_its_processes() -> None:
    """Six children with 60 MiB each need six times as much as one."""
    assert values(60 * MIB, curve(6 * 60 * 1024, [1, 7, 7]))["peak_memory"] == 360 * MIB


def test_the_kernels_mark_of_one_process_is_the_least_that_the_tree_had() -> None:
    """The looks missed the moment at which it had most."""
    found = values(40 * MIB, curve(34 * 1024, [1, 2]))
    assert found["peak_memory"] == found["tree_peak"] == 40 * MIB


def test_of_one_process_the_kernels_mark_is_exact() -> None:
    """A look counts pages more exactly than the kernel's mark, which would be noise in it."""
    assert values(40 * MIB, curve(41 * 1024, [1, 1]))["peak_memory"] == 40 * MIB
    assert values(40 * MIB, None)["peak_memory"] == 40 * MIB
