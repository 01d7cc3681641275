"""The end of a long run on the terminal."""

from __future__ import annotations

from synthetic_heap import Heap, heap_run

from heapwise.analysis import analyse
from heapwise.cli.frame.campaign import MANY_ROWS, _tables
from heapwise.cli.frame.standing import standing_tables


def test_a_line_for_each_row_with_the_best_and_who_is_how_far_behind() -> None:
    text = standing_tables(heap_run(Heap(threads=(1, 2))))
    lines = {line.split("  ")[0]: line.split() for line in text.splitlines() if line}
    assert [t for t in lines if t.endswith("behind the best (?: cannot tell)")] == [
        f"{t}: times behind the best (?: cannot tell)" for t in ("Speed", "Latency", "Memory")]
    row = lines["rl_small throughput threads=2"]
    assert row[-5:-3] == ["1.90", "1.46"]
    assert row[-1] == "best"
    assert "?" in text


def test_many_rows_end_in_it_and_few_in_all_their_figures() -> None:
    long, short = heap_run(Heap(rounds=6)), heap_run(Heap(threads=(1,), rounds=6))
    assert len(analyse(long).rows) > MANY_ROWS >= len(analyse(short).rows)
    assert "heapwise report 4ea9" in _tables(analyse(long), long)
    assert "stddev" not in _tables(analyse(long), long)
    assert "stddev" in _tables(analyse(short), short)
