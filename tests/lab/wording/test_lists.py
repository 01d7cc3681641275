from __future__ import annotations

from heapwise.wording.lists import counted, listed


def test_counted() -> None:
    assert [counted(1, "pair"), counted(0, "pair"), counted(12_000, "process", "processes")] == [
        "1 pair",
        "0 pairs",
        "12,000 processes",
    ]


def test_listed_once_each_and_the_rest_counted() -> None:
    assert listed(["a", "b", "a"]) == "a, b"
    assert listed("abcde") == "a, b, c and 2 more"
