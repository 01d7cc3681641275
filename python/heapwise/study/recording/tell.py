"""What a trace and a profile tell alike: what was recorded, how it ended, names of call sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from heapwise.document import Labelled, Notice, Passage, TextOrCell, plain_table, table_cell, under
from heapwise.trace import Summary, Trace
from heapwise.trace.names.symbols import module_notes
from heapwise.trace.names.wrappers import bare_name
from heapwise.wording.lists import counted
from heapwise.wording.numbers import ShowNumber, show, significant

LEAST_NAME = 10
"""Columns of a function beside its line."""

Site = tuple[str, Sequence[str], Sequence[str]]
"""The name of a call site, its figures, and those for which a terminal has no room."""

HANDED_OVER = "are freed by another thread than made them"

ABOUT_SITES = "A call site is the first frame that is not an allocation wrapper."


def site_table(
    title: str, heads: Sequence[str], sites: Iterable[Site], more: Sequence[str] = ()
) -> list[Passage]:
    """A row for each call site. more: heads of figures for which a terminal has no room."""
    rows: list[list[TextOrCell]] = [
        [table_cell(name, is_code=True), *figures, *(table_cell(text, "") for text in others)]
        for name, figures, others in sites
    ]
    head: list[TextOrCell] = ["call site", *heads, *(table_cell(word, "") for word in more)]
    table = plain_table([head, *rows], of_figures=True)
    return under(title, [replace(table, cut=shortened)])


def more_sites(shown: int, total: int, command: str) -> Notice:
    """Empty if all are shown."""
    rest = total - shown
    return Notice(f"{counted(rest, 'call site')} more: {command} --top 1000" if rest > 0 else "")


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
    running = (
        f"process {trace.running} is still being recorded. The newest calls of each thread are "
        f"written when the recording pauses (heapwise record --pause {trace.running}; --resume "
        "goes on), and times have no unit before the end"
    )
    damaged = f"{trace.damage}; what follows is of what could be read"
    other = trace.summary.other_program if trace.summary else None
    missed = "which the process became: it was not recorded, and what follows is of the programs"
    return [
        Labelled("Running", running if trace.running else ""),
        Labelled("Damaged", damaged if trace.damage and not trace.running else ""),
        *builds(trace),
        Labelled("Missed", f"{other.program}, {missed} before it" if other else ""),
    ]


def builds(trace: Trace) -> list[Labelled]:
    """Which files have other contents than when the program was recorded."""
    return [Labelled("" if at else "Builds", note) for at, note in enumerate(module_notes(trace))]


def paused(summary: Summary, lost: str) -> Labelled:
    """lost: what is not known after a pause of the recording."""
    times = f"{counted(summary.pauses, 'time')}, {significant(summary.paused_s)} s in all"
    return Labelled("Paused", f"{times}; {lost}" if summary.pauses else "")


def shown_time(unit: float) -> ShowNumber:
    """Shows a time in units of a trace."""
    return lambda value: show(value * unit, "ns") if unit else f"{value:.0f} units"
