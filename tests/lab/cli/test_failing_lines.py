"""How the programs that failed are named at the end: as the user named them."""

from __future__ import annotations

from heapwise.cli.frame.tell.ending import _failing
from heapwise.model import Process


def processes(subject: str, n: int, *status: str) -> list[Process]:
    return [Process(0, "compare", subject, {"n": n}, 0, word) for word in status]  # type: ignore[arg-type]


def test_both_labels_of_a_baseline_are_one_program_and_a_setting_is_named() -> None:
    run = [
        *processes("need", 1, "ok", "ok"),
        *processes("need-control", 1, "ok"),
        *processes("need", 2, "failed"),
        *processes("need-control", 2, "failed"),
        *processes("other", 1, "failed"),
        *processes("other", 2, "failed", "ok"),
    ]
    found = _failing(run, {"need-control"})
    assert {name: len(its) for name, its in found.items()} == {"need with n=2": 2, "other": 3}
