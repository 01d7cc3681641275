"""Two traces beside each other: a page with a differential flame graph, and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from heapwise.document import Heading
from heapwise.document.markdown import markdown
from heapwise.report.allocation_parts import MOST_SITES, AllocationPage
from heapwise.report.flame_tree import Node
from heapwise.study.recording.difference_tables import answer, difference_passages
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.trace_difference import TraceDifference

MEASURES = {
    "b": ("After", "bytes after"),
    "o": ("Before", "bytes before"),
    "g": ("More", "bytes more"),
    "s": ("Less", "bytes less"),
}
"""The keys of a node of the flame graph: bytes in the later trace, in the earlier one, those that
the stacks below it have more, and those that they have less."""

NOTE = (
    "A box that has grown is red, one that has shrunk is green, and one without a change is grey. "
    '"After" and "Before" give each box its bytes in that trace. "More" and "Less" show only '
    "stacks that asked for more or for less."
)


def trace_difference_page(
    found: TraceDifference, first: Sequence[CallStack], second: Sequence[CallStack]
) -> str:
    """One file that loads nothing from the network."""
    return AllocationPage(
        title=f"{found.first}, then {found.second}",
        what="difference",
        answer=answer(found),
        note=NOTE,
        measures=MEASURES,
        above=[],
        tables=difference_passages(found, MOST_SITES),
        tree=difference_tree(first, second),
    ).render()


def trace_difference_markdown(found: TraceDifference, most_sites: int = 20) -> str:
    lines = markdown([Heading(answer(found)), *difference_passages(found, most_sites)])
    return "\n".join(lines).rstrip() + "\n"


def difference_tree(first: Sequence[CallStack], second: Sequence[CallStack]) -> Node:
    """The stacks of both traces. The keys of its sums are MEASURES.

    Functions have no lines here, because lines move from build to build.
    """
    before, after = _by_stack(first), _by_stack(second)
    root = Node("all", dict.fromkeys(MEASURES, 0))
    for names in {**after, **before}:
        was, now = before[names], after[names]
        sums = (now, was, max(0, now - was), max(0, was - now))
        root.add(names, dict(zip(MEASURES, sums, strict=True)))
    return root


def _by_stack(stacks: Sequence[CallStack]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for stack in stacks:
        found[tuple(place.name for place in stack.places) or ("unknown",)] += stack.bytes
    return found
