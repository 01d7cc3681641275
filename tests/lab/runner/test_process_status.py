"""What became of a process that the kernel killed because memory was short."""

from __future__ import annotations

import pytest

from heapwise.model import GroupMemory, ProcessFacts
from heapwise.runner.executors.whole_program import group_values
from heapwise.runner.process.launch import Outcome
from heapwise.runner.process.process_status import Reference, judge

LIMITED = GroupMemory(own=True, limit_kib=64 * 1024, kills=1)
WORDS = "killed by the kernel: the memory limit of its control group is 64 MiB"


def judged(
    group: GroupMemory | None,
    *,
    signal: str | None = None,
    code: int | None = None,
) -> tuple[str, str]:
    facts = ProcessFacts(
        signal=9 if signal else None,
        signal_name=signal,
        exit_code=code,
        output_hash="",
        group=group,
    )
    return judge(Outcome(facts), None, Reference())


@pytest.mark.parametrize(
    ("group", "signal", "reason"),
    [
        (LIMITED, "SIGKILL", WORDS),
        (GroupMemory(own=False, limit_kib=64 * 1024, kills=1), "SIGKILL", WORDS),
        (GroupMemory(own=True, kills=2), "SIGKILL", "killed by the kernel: memory was short"),
        (GroupMemory(own=True, limit_kib=64 * 1024, kills=0), "SIGKILL", "crashed (SIGKILL)"),
        (GroupMemory(own=True, limit_kib=64 * 1024), "SIGKILL", "crashed (SIGKILL)"),
        (None, "SIGKILL", "crashed (SIGKILL)"),
        (LIMITED, "SIGSEGV", "crashed (SIGSEGV)"),
    ],
)
def test_a_limit_of_memory_is_named(group: GroupMemory | None, signal: str, reason: str) -> None:
    assert judged(group, signal=signal) == ("crashed", reason)


def test_a_program_whose_child_was_killed_did_not_do_its_work() -> None:
    assert judged(LIMITED, code=0) == ("failed", f"1 of its processes: {WORDS}")


def test_others_in_a_surrounding_group_may_have_been_killed() -> None:
    assert judged(GroupMemory(own=False, kills=1), code=0)[0] == "ok"


def test_the_peak_of_a_group_is_a_figure_if_nobody_else_was_in_it() -> None:
    assert group_values(GroupMemory(own=True, peak_kib=3)) == {"group_peak": 3072}
    for group in (None, GroupMemory(own=False, peak_kib=3), GroupMemory(own=True)):
        assert group_values(group) == {}
