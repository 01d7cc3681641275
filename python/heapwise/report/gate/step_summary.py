"""Markdown for the summary of a step or a comment: the answer, then a table of the limits."""

from __future__ import annotations

from heapwise.model import GateResult, GateRow
from heapwise.report.formats.markdown import plain_text
from heapwise.wording.numbers import percent, scale_for, signed_count
from heapwise.wording.ratios import signed_ends

ANSWERS = {"regressed": "**Regressed**", "fine": "**Fine**", "cannot tell": "**Cannot tell**"}


def write(gate: GateResult) -> str:
    head = f"{ANSWERS[gate.verdict]}: {plain_text(gate.new)} against {plain_text(gate.base)}"
    if gate.identical:
        return f"## heapwise gate\n\n{head}. {plain_text(gate.note)}\n"
    lines = [
        f"## heapwise gate\n\n{head}\n",
        "| metric | limit | base | new | change (95 % CI) | A/A noise | verdict |",
        "|---|--:|--:|--:|---|--:|---|",
        *(_line(row) for row in gate.rows),
        "",
        *(f"- {plain_text(row.sentence)}" for row in gate.rows if row.verdict != "fine"),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _line(row: GateRow) -> str:
    scale = scale_for([row.base, row.new], row.unit)
    whole = row.exact or row.unit == "count"
    values = [
        "–" if value is None else f"{value:,.0f}" if whole else scale.text(value)
        for value in (row.base, row.new)
    ]
    change = "–"
    if row.low is not None and row.high is not None:
        change = signed_ends(1 + row.low, 1 + row.high)
    elif whole and row.base is not None and row.new is not None:
        change = f"{signed_count(row.new - row.base)}{' (exact)' if row.exact else ''}"
    noise = "–" if row.noise is None else f"±{percent(row.noise)}"
    words = [row.metric, f"{row.limit * 100:g} %", *values, change, noise, row.verdict]
    return f"| {' | '.join(map(plain_text, words))} |"
