from __future__ import annotations

import pytest

from heapwise.wording.names import cell_words, quantity_name, spaced, split_quantile


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("alloc_p50", ("alloc", "p50")),
        ("alloc_p99_9", ("alloc", "p99.9")),
        ("max", ("", "max")),
        ("free_max", ("free", "max")),
        ("alloc_fresh", None),
        ("p99.9", ("", "p99.9")),
        ("free_p99_999", ("free", "p99.999")),
    ],
)
def test_quantile_names(name: str, expected: tuple[str, str] | None) -> None:
    assert split_quantile(name) == expected


def test_names_in_sentences() -> None:
    assert spaced("timed_out") == "timed out"
    assert [quantity_name(q) for q in ("wall_time", "wall", "peak_resident", "longest_pause")] == [
        "time",
        "time",
        "peak memory",
        "longest pause",
    ]
    assert [quantity_name(q) for q in ("alloc_p99_9", "latency_p50", "p99_99", "alloc_max")] == [
        "alloc p99.9",
        "latency p50",
        "p99.99",
        "alloc max",
    ]


def test_settings() -> None:
    assert cell_words({"block_size": 64, "iterations": 1_000_000, "mode": "a", "trust": True}) == (
        "block size 64, iterations 1,000,000, mode a, trust true"
    )
