"""Two traces beside each other: a page with a differential flame graph, and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from heapwise import __version__
from heapwise.document.html import html
from heapwise.document.markdown import markdown
from heapwise.document.model import (
    Heading,
    Notice,
    Passage,
    Sentence,
    TableCell,
    TextTable,
    plain_table,
    table_cell,
)
from heapwise.figures.svg import PALETTE
from heapwise.report.allocation_parts import MOST_SITES
from heapwise.report.flame_tree import Node, embedded
from heapwise.report.page import environment
from heapwise.trace.names.call_stacks import CallStack
from heapwise.trace.trace_difference import TraceDifference
from heapwise.wording.lists import counted
from heapwise.wording.numbers import signed_count, signed_size, size

SUMS = ("b", "o", "g", "s")
"""Keys of a node of the flame graph: bytes in the later trace, in the earlier one, those that the
stacks below it have more, and those that they have less."""


def trace_difference_page(
    found: TraceDifference, first: Sequence[CallStack], second: Sequence[CallStack]
) -> str:
    """One file that loads nothing from the network."""
    templates = environment()
    assert templates.loader is not None
    style, zoom, script = (
        Markup(templates.loader.get_source(templates, part)[0])
        for part in ("style.css", "zoom.js", "flame.js")
    )
    return templates.get_template("trace_difference.html").render(
        answer=answer(found),
        first=found.first,
        second=found.second,
        totals=html(_totals(found)),
        sites=html(_sites(found, MOST_SITES)),
        tree=embedded(difference_tree(first, second)),
        live="",
        sizes=[],
        lifetimes=[],
        style=style,
        zoom=zoom,
        script=script,
        palette=PALETTE,
        version=__version__,
    )


def trace_difference_markdown(found: TraceDifference, most_sites: int = 20) -> str:
    lines = markdown(
        [
            Heading(answer(found)),
            Sentence(f"{found.first}, then {found.second}."),
            *_totals(found),
            *_sites(found, most_sites),
        ]
    )
    return "\n".join(lines).rstrip() + "\n"


def answer(found: TraceDifference) -> str:
    """One sentence: the change of all bytes, and the call site with most of it."""
    if not found.sites:
        return "Each call site asked for as much as before"
    whole, most = found.whole.grown, found.sites[0]
    if not whole.bytes:
        words = "As many bytes were asked for, from other call sites"
    else:
        words = f"{signed_size(whole.bytes)} asked for"
    return f"{words}; most of it by {most.name}: {signed_size(most.grown.bytes)}"


def difference_tree(first: Sequence[CallStack], second: Sequence[CallStack]) -> Node:
    """The stacks of both traces. The keys of its sums are SUMS.

    Functions have no lines here, because lines move from build to build.
    """
    before, after = _by_stack(first), _by_stack(second)
    root = Node("all", dict.fromkeys(SUMS, 0))
    for names in {**after, **before}:
        was, now = before[names], after[names]
        sums = (now, was, max(0, now - was), max(0, was - now))
        root.add(names, dict(zip(SUMS, sums, strict=True)))
    return root


def _by_stack(stacks: Sequence[CallStack]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for stack in stacks:
        found[tuple(place.name for place in stack.places) or ("unknown",)] += stack.bytes
    return found


def _totals(found: TraceDifference) -> list[Passage]:
    one, other, grown = found.whole.first, found.whole.second, found.whole.grown
    rows = [
        ["Blocks", f"{one.blocks:,}", f"{other.blocks:,}", signed_count(grown.blocks)],
        *(
            [
                title,
                size(getattr(one, name)),
                size(getattr(other, name)),
                signed_size(getattr(grown, name)),
            ]
            for title, name in (
                ("Asked for", "bytes"),
                ("Live at the peak", "peak_bytes"),
                ("Live at the end", "end_bytes"),
            )
        ),
    ]
    return [plain_table([["", "before", "after", "difference"], *rows])]


def _sites(found: TraceDifference, most: int) -> list[Passage]:
    if not found.sites:
        return []
    rows: list[list[TableCell]] = []
    for site in found.sites[:most]:
        grown, mark = site.grown, "~" if site.estimated else ""
        words = (
            f"{site.name}, new"
            if not site.first.blocks
            else site.name
            if site.second.blocks
            else f"{site.name}, gone"
        )
        rows.append(
            [
                table_cell(words, is_code=True),
                *map(
                    table_cell,
                    (
                        f"{mark}{signed_size(grown.bytes)}",
                        f"{mark}{signed_count(grown.blocks)}",
                        signed_size(grown.peak_bytes),
                        signed_size(grown.end_bytes),
                    ),
                ),
            ]
        )
    head = ["Call site", "bytes", "blocks", "at the peak", "at the end"]
    parts: list[Passage] = [
        Heading("Call sites that differ"),
        TextTable(list(map(table_cell, head)), rows),
        Notice(
            "The second trace less the first; + is more. A function is one call site. ~ marks "
            "shares of a wrapper with several callers."
        ),
    ]
    if len(found.sites) > most:
        parts.append(
            Notice(f"{counted(len(found.sites) - most, 'call site')} more: heapwise trace --json")
        )
    return parts
