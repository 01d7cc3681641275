"""The tables of a comparison of servers: one of speed and one of memory for each load."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heapwise.document import Passage, Sentence, TextTable, plain_table, table_cell
from heapwise.model import SIDE_BY_SIDE, Result
from heapwise.study.program.compare_table import (
    beside_table,
    figure_columns,
    rows_of,
    table_of,
    value_column,
)
from heapwise.wording.growth import growth_words
from heapwise.wording.names import cell_words
from heapwise.wording.numbers import Scale, scale_for

if TYPE_CHECKING:
    from heapwise.analysis.memory_over_time import Band, MemoryOverTime
    from heapwise.evidence import Evidence


MEMORY = {
    "after idle": "after_idle",
    "after load": "after_load",
    "most": "tree_peak",
    "cgroup peak": "group_peak",
}
LATENCY = {
    "p99": "latency_p99",
    "p50": "latency_p50",
    "p99.9": "latency_p99_9",
    "most": "latency_max",
}
THROUGHPUT = {"throughput": "throughput", "CPU a request": "cpu_per_request"}
"""Title of a column -> its quantity. The first one is compared with the baseline."""


LEAST_SHARE = 0.01
"""The share of the memory at the end: less of it is not named."""


def growth_tables(evidence: Evidence) -> list[TextTable]:
    """What each allocator had over time, if a process was watched for long enough to say whether
    it grows."""
    from heapwise.analysis.memory_over_time import memory_over_time

    cells = [one for one in memory_over_time(evidence) if any(band.growth for band in one.bands)]
    return [replace(curve_table(one), caption=cell_words(one.parameters)) for one in cells]


def curve_table(one: MemoryOverTime) -> TextTable:
    scale = scale_for([max(band.middle) for band in one.bands], "bytes")
    head = ["memory", "peak", "mean", "at the end", "second half (95 % CI)"]
    return plain_table([head, *(_curve_row(band, scale) for band in one.bands)], fits=True)


def _curve_row(band: Band, scale: Scale) -> list[str]:
    """Beside the last figure how much of it the kernel may take back, if that shows."""
    found = band.growth
    words = "too short"
    if found is not None:
        words = growth_words(found.trend, found.per_hour, found.low, found.high)
    mean = sum(band.middle) / len(band.middle)
    last = scale.text(band.middle[-1])
    if band.lazy_free >= LEAST_SHARE * band.middle[-1] > 0:
        last += f" ({scale.text(band.lazy_free)} of it may be taken back)"
    return [band.subject, scale.text(max(band.middle)), scale.text(mean), last, words]


def server_tables(result: Result) -> list[Passage]:
    """For each load how fast it was answered, and memory."""
    passages: list[Passage] = []
    for load in dict.fromkeys(row.parameters for row in result.rows):
        passages.append(Sentence(cell_words(load)))
        speed = LATENCY if rows_of(result, load, "latency_p99") else THROUGHPUT
        for (name, main), *more in (list(speed.items()), list(MEMORY.items())):
            rows = rows_of(result, load, main)
            subjects = sorted(rows, key=lambda name: not rows[name].baseline)
            shown = figure_columns(rows, name)
            for title, quantity in more:
                shown += value_column(rows_of(result, load, quantity), title)
            if rows:
                passages.append(table_of({s: table_cell(s) for s in subjects}, shown))
        pairs = rows_of(result, load, SIDE_BY_SIDE)
        if any(row.median is not None for row in pairs.values()):
            names = sorted(pairs, key=lambda name: not pairs[name].baseline)
            table = beside_table(pairs, {s: table_cell(s) for s in names}, "CPU a request")
            passages.append(table)
    return passages
