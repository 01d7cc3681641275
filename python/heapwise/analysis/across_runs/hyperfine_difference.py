"""Two files of hyperfine beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from heapwise.analysis.verdicts.verdict import judge
from heapwise.model import Cell, Difference, DifferenceRow, Settings
from heapwise.stats.ratios.unpaired import unpaired_ratio
from heapwise.stats.series.dependence import untested
from heapwise.store.hyperfine_file import HyperfineFile, TimedCommand

UNKNOWN = (
    "hyperfine's files do not name the machine and its noise. A verdict holds only if one "
    "quiet machine measured both files"
)


def hyperfine_difference(
    first: tuple[str, HyperfineFile], second: tuple[str, HyperfineFile]
) -> Difference:
    """Compares each command that both files have, by its text; the only commands of two files that
    have one each, whatever they are called."""
    (name, one), (other_name, other) = first, second
    before, after = _by_command(one.results), _by_command(other.results)
    notes = [UNKNOWN]
    if len(before) == len(after) == 1 and before.keys() != after.keys():
        [(old, older)], [(new, newer)] = before.items(), after.items()
        notes.append(f"the commands differ: {old}, and {new}")
        rows = [_row(older, newer)]
    else:
        rows = [_row(before[key], after[key]) for key in before if key in after]
        if left := [key for key in [*before, *after] if (key in before) != (key in after)]:
            notes.append(f"only one file has: {'; '.join(left)}")
    return Difference(name, other_name, rows=rows, notes=notes)


def _by_command(results: Iterable[TimedCommand]) -> dict[str, TimedCommand]:
    """The first of each command; hyperfine writes the values of parameters into it."""
    found: dict[str, TimedCommand] = {}
    for result in results:
        if result.times:
            found.setdefault(result.command, result)
    return found


def _row(first: TimedCommand, second: TimedCommand) -> DifferenceRow:
    cell, command = Cell("hyperfine", Settings.of(first.parameters), "wall_time"), first.command
    before, after = (median(one.times) for one in (first, second))
    if min(*first.times, *second.times) <= 0:
        return DifferenceRow(cell, command, "s", before, after, None, None, None, "cannot tell")
    ratio = unpaired_ratio(second.times, first.times).widened(1.0, untested().strict_factor)
    verdict = judge(ratio, "lower", None)
    return DifferenceRow(
        cell, command, "s", before, after, ratio.ratio, ratio.low, ratio.high, verdict
    )
