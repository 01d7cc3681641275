"""The tables of a comparison of servers: one of speed and one of memory for each load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heapwise.document import Passage, Sentence, TextTable, plain_table, table_cell
from heapwise.model import Result
from heapwise.study.program.compare_table import (
    figure_columns,
    rows_of,
    table_of,
    value_column,
)
from heapwise.wording.growth import growth_words
from heapwise.wording.names import cell_words

if TYPE_CHECKING:
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


def growth_table(evidence: Evidence) -> list[TextTable]:
    """Whether memory grows under each allocator; empty if no process was watched for long
    enough."""
    from heapwise.analysis.memory_over_time import memory_over_time

    lines = [
        [
            cell_words(cell.parameters),
            band.subject,
            growth_words(
                band.growth.trend, band.growth.per_hour, band.growth.low, band.growth.high
            ),
        ]
        for cell in memory_over_time(evidence)
        for band in cell.bands
        if band.growth
    ]
    head = ["", "memory over time", "second half (95 % CI)"]
    return [plain_table([head, *lines], fits=True)] if lines else []


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
    return passages
