"""Whether the replay of a trace predicts what allocators make of the program itself.

Nothing is measured here: a stored run of ``heapwise compare`` is laid beside one of ``heapwise
replay`` of the same program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heapwise.model import Result, Row, short_name


@dataclass(frozen=True)
class Pair:
    """One allocator beside the baseline. Changes are of the program's time, relative to that with
    the baseline: 0.1 is 10 % more. is_sure: whether the comparison tells them apart."""

    allocator: str
    found: float
    is_sure: bool
    predicted: float

    @property
    def agrees(self) -> bool:
        """Whether both changes have one sign."""
        return (self.found < 0) == (self.predicted < 0)

    def __str__(self) -> str:
        sign = ("agrees" if self.agrees else "DISAGREES") if self.is_sure else "not told apart"
        changes = f"found {self.found:+.1%}, predicted {self.predicted:+.1%}"
        return f"{self.allocator:16} {sign:16} {changes}"


def agreement(compared: Result, replayed: Result) -> Iterator[Pair]:
    """For each allocator of both runs. Requires: `replayed` is the replay of a trace."""
    replay = replayed.run.plan.options.replay
    if replay is None:
        raise ValueError(f"{replayed.run.id} is not the replay of a trace")
    alone = replay.threads == 1
    real = _rows(compared, "cpu_time" if alone else "wall_time", "")
    played = _rows(replayed, "processor_time" if alone else "time", "fast")
    base = next((name for name, row in real.items() if row.baseline), None)
    if base is None or base not in played:
        return
    for name in real.keys() & played.keys() - {base}:
        ratio, median, least = real[name].ratio, played[name].median, played[base].median
        whole = real[base].median
        if ratio is None or median is None or least is None or not whole:
            continue
        # The ratio of two replays is not that of two programs: the program computes, too.
        saved_s = (median - least) * replay.calls * 1e-9
        is_sure = real[name].verdict in ("better", "worse")
        yield Pair(name, ratio - 1, is_sure, saved_s / whole)


def _rows(result: Result, quantity: str, schedule: str) -> dict[str, Row]:
    """Allocator -> its row."""
    controls = {subject.name for subject in result.run.plan.subjects if subject.control}
    return {
        short_name(row.subject): row
        for row in result.rows
        if row.quantity == quantity
        and row.subject not in controls
        and str(row.parameters.get("schedule") or "") == schedule
    }
