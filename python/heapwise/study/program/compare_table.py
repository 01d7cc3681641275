"""The tables of a comparison: time, memory, faults."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import Any

from heapwise.document import TextTable, plain_table
from heapwise.document.aligned import CI, LEAST_WIDTH, WIDTH, Line, fitted
from heapwise.model import SIDE_BY_SIDE, Result, Row, Settings
from heapwise.wording.names import spaced
from heapwise.wording.numbers import Scale, scale_for
from heapwise.wording.ratios import interval, relation


def compare_tables(result: Result, width: int | None = None) -> list[TextTable]:
    """For each cell, absolute figures and those against the baseline. Time and memory are side by
    side where the terminal is wide enough, else below each other."""
    cells = dict.fromkeys(row.parameters for row in result.rows)
    found: list[TextTable] = []
    for cell in cells:
        first, *others = _CellTable(result, cell).lines(width or terminal_width())
        caption = str(cell) if len(cells) > 1 or cell else ""
        found.append(plain_table(first, caption, fits=True))
        found += [plain_table(lines, fits=True) for lines in others]
    return found


def terminal_width() -> int:
    if not sys.stdout.isatty():
        return WIDTH
    return max(LEAST_WIDTH, shutil.get_terminal_size().columns - 1)


@dataclass(frozen=True)
class _CellTable:
    result: Result
    cell: Settings

    def lines(self, width: int) -> list[list[Line]]:
        """For each table, its head and its rows."""
        time, memory = self._time(), self._memory()
        both = [[*left, *right[1:]] for left, right in zip(time, memory, strict=True)]
        is_wide = max(map(len, fitted(both).splitlines()), default=0) > width
        found = [time, memory] if is_wide else [both]
        return [*found, beside] if (beside := self._side_by_side()) else found

    def _rows(self, quantity: str) -> dict[str, Row]:
        hidden = {s.name for s in self.result.run.plan.subjects if s.control}
        return {
            row.subject: row
            for row in self.result.rows
            if row.quantity == quantity
            and row.parameters == self.cell
            and row.subject not in hidden
        }

    @property
    def _subjects(self) -> list[str]:
        """The baseline, then the others by their times."""
        times = self._rows("wall_time")
        return sorted(times, key=lambda name: _rank(times[name]))

    @property
    def _baseline(self) -> str:
        rows = self._rows("wall_time").values()
        return next((row.subject for row in rows if row.baseline), "baseline")

    def _time(self) -> list[Line]:
        rows, user, system = (self._rows(q) for q in ("wall_time", "user_time", "system_time"))
        scale = scale_of(rows, "s")
        cpu = scale_of(user | {f"{name} ": row for name, row in system.items()}, "s")
        lines = [["", "n", "time", "min to max", f"vs {self._baseline}", CI]]
        if user:
            lines[0] += ["user", "system"]
        for name in self._subjects:
            line = [name, *cells_of(rows.get(name), scale)]
            line.insert(2, _range(rows.get(name), scale))
            line.insert(1, str(rows[name].n))
            if user:
                line += [value_of(user.get(name), cpu), value_of(system.get(name), cpu)]
            lines.append(line)
        return lines

    def _side_by_side(self) -> list[Line]:
        """Empty if nothing was measured that way."""
        rows = self._rows(SIDE_BY_SIDE)
        if not rows:
            return []
        head = ["", "pairs", f"CPU time, side by side with {self._baseline}", CI]
        return [head, *(_beside(name, rows.get(name)) for name in self._subjects)]

    def _memory(self) -> list[Line]:
        rows, faults = self._rows("peak_memory"), self._rows("minor_faults")
        scale = scale_of(rows, "bytes")
        lines = [["", "peak memory", "min to max", f"vs {self._baseline}", CI, "page faults"]]
        for name in self._subjects:
            line = [name, *cells_of(rows.get(name), scale), _count(faults.get(name))]
            line.insert(2, _range(rows.get(name), scale))
            lines.append(line)
        group = self._rows("group_peak")
        if any(row.median is not None for row in group.values()):
            of_group = scale_of(group, "bytes")
            lines[0].append("cgroup peak")
            for name, line in zip(self._subjects, lines[1:], strict=True):
                line.append(value_of(group.get(name), of_group))
        return lines


def scale_of(rows: dict[str, Row], unit: str) -> Scale:
    return scale_for([row.median for row in rows.values()], unit)


def cells_of(row: Row | None, scale: Scale) -> Line:
    if row is None or row.median is None:
        return [missing(row), "", ""]
    if row.baseline:
        return [scale.text(row.median), "-", ""]
    return [
        scale.text(row.median),
        "cannot tell" if row.ratio is None else relation(row),
        interval(row),
    ]


def _beside(name: str, row: Row | None) -> Line:
    """The name, how many pairs, and what they say."""
    if row is None or row.median is None:
        return [name, "", missing(row), ""]
    if row.baseline:
        return [name, "", "-", ""]
    return [name, str(row.n), relation(row), interval(row)]


def _range(row: Row | None, scale: Scale) -> str:
    if row is None or row.min is None or row.max is None:
        return ""
    return f"{scale.number(row.min)} to {scale.number(row.max)}"


def value_of(row: Row | None, scale: Scale) -> str:
    return "" if row is None or row.median is None else scale.text(row.median)


def _count(row: Row | None) -> str:
    return "" if row is None or row.median is None else f"{row.median:,.0f}"


def missing(row: Row | None) -> str:
    """Why there is no figure."""
    if row is None:
        return "not measured"
    return row.note or spaced(row.status)


def _rank(row: Row) -> tuple[Any, ...]:
    return (not row.baseline, row.median is None, row.median or 0.0)
