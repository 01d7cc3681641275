"""What a trace and a profile tell alike: what was recorded, how it ended, names of call sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heapwise.document import Labelled, Notice, Passage, TextTable, plain_cells, table_cell, under
from heapwise.trace import Summary, Trace
from heapwise.trace.names.symbols import module_notes
from heapwise.trace.names.wrappers import bare_name
from heapwise.wording.lists import counted
from heapwise.wording.numbers import ShowNumber, show, significant

LEAST_NAME = 10
"""Columns of a function beside its line."""

Site = tuple[str, Sequence[str], Sequence[str]]
"""The name of a call site, its figures, and those for which a terminal has no room."""

ABOUT_SITES = "A call site is the first frame that is not an allocation wrapper."


def site_table(
    title: str, heads: Sequence[str], sites: Iterable[Site], more: Sequence[str] = ()
) -> list[Passage]:
    """A row for each call site. more: heads of figures for which a terminal has no room."""
    rows = [
        [
            table_cell(name, is_code=True),
            *plain_cells(figures),
            *(table_cell(text, "") for text in others),
        ]
        for name, figures, others in sites
    ]
    head = plain_cells(["call site", *heads]) + [table_cell(word, "") for word in more]
    table = TextTable(head, rows, of_figures=True, cut=shortened)
    return under(title, [table] if rows else [])


def more_sites(shown: int, total: int, command: str) -> list[Notice]:
    rest = total - shown
    return [Notice(f"{counted(rest, 'call site')} more: {command} --top 1000")] if rest > 0 else []


def shortened(name: str, most: int) -> str:
    """The whole name if it fits, else without arguments, else its begin and its end."""
    if len(name) <= most:
        return name
    function, bracket, line = name.rpartition(" (")
    if bracket and line.endswith(")"):
        # The line is what users look for: it stays whole as long as there is room for it.
        brief = bare_name(function) or function
        room = most - len(line) - 2
        if room >= LEAST_NAME:
            return f"{_cut(brief, room)} ({line}"
    return _cut(bare_name(name) or name, most)


def _cut(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - end - 3]}...{name[len(name) - end :]}"


def command_of(trace: Trace) -> str:
    return " ".join(trace.command) or trace.path.name


def ending(trace: Trace) -> list[Labelled]:
    """Nothing for a trace with an end, of one program, whose files are as they were."""
    found = []
    if trace.running:
        words = (
            f"process {trace.running} is still being recorded. The newest calls of each thread "
            "are written when the recording pauses, and times have no unit before the end"
        )
        found.append(Labelled("Running", words))
    elif trace.damage:
        words = f"{trace.damage}; what follows is of what could be read"
        found.append(Labelled("Damaged", words))
    found += builds(trace)
    if trace.summary and (other := trace.summary.other_program):
        words = (
            f"{other.program}, which the process became: it was not recorded, and what follows is "
            "of the programs before it"
        )
        found.append(Labelled("Missed", words))
    return found


def builds(trace: Trace) -> list[Labelled]:
    """Which files have other contents than when the program was recorded."""
    return [Labelled("" if at else "Builds", note) for at, note in enumerate(module_notes(trace))]


def paused(summary: Summary, lost: str) -> list[Labelled]:
    """lost: what is not known after a pause of the recording."""
    times = f"{counted(summary.pauses, 'time')}, {significant(summary.paused_s)} s in all"
    return [Labelled("Paused", f"{times}; {lost}")] if summary.pauses else []


def shown_time(unit: float) -> ShowNumber:
    """Shows a time in units of a trace."""
    return lambda value: show(value * unit, "ns") if unit else f"{value:.0f} units"
