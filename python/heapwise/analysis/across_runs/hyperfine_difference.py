"""Two files of hyperfine beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from heapwise.model import Cell, Difference, DifferenceRow, Settings
from heapwise.stats.ratios.unpaired import unpaired_ratio
from heapwise.store.hyperfine_file import HyperfineFile, TimedCommand

UNKNOWN = (
    "hyperfine's files do not say how much two of them differ by themselves, so there is no "
    "verdict. The intervals hold the scatter within the files only. For a verdict, measure both "
    "commands in one run: heapwise compare"
)


def hyperfine_difference(
    first: tuple[str, HyperfineFile], second: tuple[str, HyperfineFile]
) -> Difference:
    """Compares each command that both files have, by its text; the only commands of two files that
    have one each, whatever they are called. There is no verdict: equal commands in two files were
    called better or worse in 19 to 48 % of cases, if files differ as much as runs within them."""
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
    ratio = unpaired_ratio(second.times, first.times)
    return DifferenceRow(
        cell, command, "s", before, after, ratio.ratio, ratio.low, ratio.high, "cannot tell"
    )
