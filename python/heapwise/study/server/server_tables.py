"""The tables of a comparison of servers: one of speed and one of memory for each load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heapwise.document import Passage, Sentence, TextTable, plain_table
from heapwise.document.aligned import CI, Line
from heapwise.model import Result, Row, Settings
from heapwise.study.program.compare_table import cells_of, scale_of, value_of
from heapwise.wording.growth import growth_words
from heapwise.wording.names import cell_words

if TYPE_CHECKING:
    from heapwise.evidence import Evidence


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
    loads = dict.fromkeys(row.parameters for row in result.rows)
    return [passage for load in loads for passage in _Tables(result, load).passages()]


@dataclass(frozen=True)
class _Tables:
    result: Result
    load: Settings

    def passages(self) -> list[Passage]:
        tables = [lines for lines in (self._speed(), self._memory()) if len(lines) > 1]
        return [Sentence(cell_words(self.load)), *(plain_table(t, fits=True) for t in tables)]

    def _rows(self, quantity: str) -> dict[str, Row]:
        hidden = {s.name for s in self.result.run.plan.subjects if s.control}
        return {
            row.subject: row
            for row in self.result.rows
            if row.quantity == quantity
            and row.parameters == self.load
            and row.subject not in hidden
        }

    def _speed(self) -> list[Line]:
        """The latencies of a load with a rate, else how many requests were answered."""
        late = self._rows("latency_p99")
        if late:
            more = {"p50": "latency_p50", "p99.9": "latency_p99_9", "most": "latency_max"}
            return self._table("p99", late, more, "s")
        return self._table(
            "throughput",
            self._rows("throughput"),
            {"CPU a request": "cpu_per_request"},
            "requests/s",
        )

    def _memory(self) -> list[Line]:
        return self._table(
            "after idle",
            self._rows("after_idle"),
            {"after load": "after_load", "most": "tree_peak", "cgroup peak": "group_peak"},
            "bytes",
        )

    def _table(
        self, name: str, main: dict[str, Row], more: dict[str, str], unit: str
    ) -> list[Line]:
        scale = scale_of(main, unit)
        every = {label: self._rows(quantity) for label, quantity in more.items()}
        others = {
            label: rows
            for label, rows in every.items()
            if any(row.median is not None for row in rows.values())
        }
        base = next((row.subject for row in main.values() if row.baseline), "baseline")
        lines = [["", name, f"vs {base}", CI, *others]]
        for subject in sorted(main, key=lambda each: not main[each].baseline):
            lines.append(
                [
                    subject,
                    *cells_of(main[subject], scale),
                    *(
                        value_of(rows.get(subject), scale_of(rows, _unit(rows)))
                        for rows in others.values()
                    ),
                ]
            )
        return lines


def _unit(rows: dict[str, Row]) -> str:
    return next((row.unit for row in rows.values()), "")
