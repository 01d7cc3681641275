"""The contents of a recording as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heapwise.cli.frame.tell.fitted_lines import boxed, shown
from heapwise.cli.frame.tell.process_text import process_lines
from heapwise.document import Passage
from heapwise.study.recording.profile_tables import profile_entries, profile_tables
from heapwise.study.recording.tell import command_of
from heapwise.study.recording.trace_tables import trace_entries, trace_tables
from heapwise.trace import Trace
from heapwise.trace.contents import Contents
from heapwise.trace.names.named_sites import NamedSite
from heapwise.trace.names.symbols import Symbols
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.sampled_stacks import SampledStacks


def trace_lines(
    trace: Trace, found: Contents, named: Sequence[NamedSite], top: int
) -> Iterator[str]:
    tables = trace_tables(trace, found, named, top)
    yield from _recording_lines("Trace", trace, [*trace_entries(trace, found), *tables])


def profile_lines(
    trace: Trace, stacks: SampledStacks, symbols: Symbols, wrappers: Wrappers, top: int
) -> Iterator[str]:
    found = stacks.samples
    sites = stacks.by_site(symbols, wrappers) if len(found) else []
    tables = profile_tables(trace, found, sites, top)
    yield from _recording_lines("Profile", trace, [*profile_entries(trace, found), *tables])


def _recording_lines(label: str, trace: Trace, passages: Sequence[Passage]) -> Iterator[str]:
    yield from boxed(label, f"{trace.path}: {command_of(trace)}")
    yield from process_lines(trace)
    yield from shown(passages)
