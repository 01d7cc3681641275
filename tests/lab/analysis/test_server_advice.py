"""The advice of servers names each quantity that differs, and those that do not tell yet."""

from __future__ import annotations

from typing import Any

from heapwise.analysis.summary.server_advice import server_advice
from heapwise.model import SIDE_BY_SIDE, Cell, Row, Settings

ANY = {"n": 4, "min": 1.0, "median": 1.0, "mean": 1.0, "max": 1.0, "stddev": 0.0}


def row(subject: str, quantity: str, verdict: Any, ratio: float | None, load: str) -> Row:
    unit = {"throughput": "requests/s", "latency_p99": "s", SIDE_BY_SIDE: "ratio"}.get(quantity)
    return Row(
        subject=subject,
        cell=Cell("server", Settings({"load": load}), quantity),
        unit=unit or "bytes",
        better="higher" if quantity == "throughput" else "lower",
        ci_low=None,
        ci_high=None,
        ratio=ratio,
        ratio_low=ratio and ratio * 0.99,
        ratio_high=ratio and ratio * 1.01,
        baseline=verdict == "baseline",
        verdict=verdict,
        **ANY,  # type: ignore[arg-type]
    )


def test_each_quantity_has_a_sentence_and_the_rest_is_named() -> None:
    rows = [
        row("glibc", SIDE_BY_SIDE, "baseline", None, "capacity"),
        row("mimalloc3", SIDE_BY_SIDE, "better", 0.97, "capacity"),
        row("scudo", SIDE_BY_SIDE, "worse", 1.2, "capacity"),
        row("mimalloc3", "throughput", "cannot tell", 1.1, "capacity"),
        row("mimalloc3", "latency_p99", "better", 0.9, "70%"),
        row("mimalloc3", "after_idle", "no difference", 1.0, "capacity"),
        row("mimalloc3", "after_idle", "worse", 1.5, "70%"),
    ]
    assert server_advice(rows) == (
        "Against glibc, CPU time, side by side: mimalloc3 3.0 % less; scudo 1.20x as much. "
        "Latency p99 at load 70%: mimalloc3 1.11x faster. Memory after idle time: no difference. "
        "Cannot tell yet: throughput."
    )


def test_nothing_is_told_of_one_server_and_of_rows_that_are_open() -> None:
    base = row("glibc", "throughput", "baseline", None, "capacity")
    assert server_advice([base]) == ""
    open_ = row("scudo", "throughput", "cannot tell", 1.1, "capacity")
    assert server_advice([base, open_]) == "Cannot tell yet which is best."
