"""What is told about a gate: the verdict, a sentence for each limit, and a table of them."""

from __future__ import annotations

from heapwise.document import (
    Labelled,
    Passage,
    Sentence,
    SentenceList,
    TextOrCell,
    TextTable,
    plain_table,
    table_cell,
)
from heapwise.evidence import Evidence
from heapwise.model import GateResult, GateRow, GrownSite, Result
from heapwise.study.section import Section
from heapwise.wording.lists import listed
from heapwise.wording.names import quantity_name
from heapwise.wording.numbers import percent, scale_for, show, signed_count, signed_size
from heapwise.wording.ratios import signed_ends

MARKS = {"fine": "better", "regressed": "worse", "cannot tell": "unsure"}

HEADS = ("metric", "limit", "base", "new", "change (95 % CI)", "A/A noise", "verdict")

NONE = "–"

SITES = "These call sites allocate more in the new build; each build was recorded once:"


def tell(result: Result, _: Evidence) -> list[Passage]:
    return [] if result.gate is None else [*gate_sentences(result.gate)]


def gate_sentences(gate: GateResult) -> list[Labelled]:
    if gate.identical:
        sentences = [f"Nothing was measured: {gate.note}."]
    else:
        sentences = [*(row.sentence for row in gate.rows), *layout_sentences(gate)]
    words = site_words(gate)
    return [
        Labelled("Gate", gate.verdict),
        *(Labelled("", sentence) for sentence in sentences),
        *(Labelled("" if number else "More by", each) for number, each in enumerate(words)),
    ]


def site_words(gate: GateResult) -> list[str]:
    """A line for each call site that allocates more, or why there is none; empty if nobody asked
    for them."""
    if gate.grown is None:
        return []
    if gate.grown.unknown:
        return [f"call sites that are not known: {gate.grown.unknown}"]
    return [f"{amount_words(site)}: {site.name}" for site in gate.grown.sites]


def amount_words(site: GrownSite) -> str:
    """``+240 blocks, +15 KiB``."""
    mark = "about " if site.estimated else ""
    blocks = "block" if abs(site.blocks) == 1 else "blocks"
    return f"{mark}{signed_count(site.blocks)} {blocks}, {signed_size(site.bytes)}"


def site_passages(gate: GateResult) -> list[Passage]:
    """The same as a sentence and a list, where nothing stands before it that says what it is."""
    words = site_words(gate)
    if gate.grown is None or not words:
        return []
    if gate.grown.unknown:
        return [Sentence(f"Call sites that allocate more are not known: {gate.grown.unknown}.")]
    return [Sentence(SITES), SentenceList(words)]


def layout_sentences(gate: GateResult) -> list[str]:
    """How many layouts there were, and what they change; empty for builds of one layout."""
    if not gate.layouts or gate.identical:
        return []
    known = [
        f"the {quantity_name(row.metric)} by {percent(row.layout)}"
        for row in gate.rows
        if row.layout is not None
    ]
    words = (
        f"Another layout changes {listed(known, len(known))} (standard deviation)"
        if known
        else "How much a layout changes is not known yet: too few rounds repeat one"
    )
    return [f"Each build was linked in {gate.layouts} random layouts. {words}."]


def limit_table(gate: GateResult) -> TextTable:
    return plain_table([HEADS, *map(_line, gate.rows)])


def _line(row: GateRow) -> list[TextOrCell]:
    scale = scale_for([row.base, row.new], row.unit)
    whole = row.exact or row.unit == "count"
    values = [
        NONE if value is None else f"{value:,.0f}" if whole else scale.text(value)
        for value in (row.base, row.new)
    ]
    noise = NONE if row.noise is None else f"±{percent(row.noise)}"
    metric = f"{row.title} ({quantity_name(row.quantity)})" if row.quantity else row.title
    limit = f"≤ {show(row.limit, row.unit)}" if row.absolute else f"{row.limit * 100:g} %"
    words = (metric, limit, *values, _change(row, whole=whole), noise)
    return [*words, table_cell(row.verdict, mark=MARKS[row.verdict])]


def _change(row: GateRow, *, whole: bool) -> str:
    if row.absolute:
        return (
            NONE if row.low is None or row.high is None else _interval(row.low, row.high, row.unit)
        )
    if row.low is not None and row.high is not None:
        return signed_ends(1 + row.low, 1 + row.high)
    if whole and row.base is not None and row.new is not None:
        return f"{signed_count(row.new - row.base)}{' (exact)' if row.exact else ''}"
    return NONE


def _interval(low: float, high: float, unit: str) -> str:
    scale = scale_for([low, high], unit)
    return f"{scale.ends(low, high)} {scale.label}".rstrip()


def _section(result: Result, _: Evidence) -> list[Passage]:
    gate = result.gate
    if gate is None:
        return []
    return [
        Sentence(f"The gate of {gate.new} against {gate.base}: {gate.verdict}."),
        limit_table(gate),
        *(Sentence(row.sentence) for row in gate.rows),
        *map(Sentence, layout_sentences(gate)),
        *site_passages(gate),
    ]


SECTIONS = [Section("gate", "Limits", 11, _section)]
