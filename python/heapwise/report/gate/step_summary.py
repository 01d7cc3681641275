"""Markdown for the summary of a step or a comment: the answer, then a table of the limits."""

from __future__ import annotations

from heapwise.document import SentenceList
from heapwise.document.markdown import markdown
from heapwise.model import GateResult
from heapwise.report.formats.markdown import plain_text
from heapwise.study.gate.tell import limit_table, site_passages


def write(gate: GateResult) -> str:
    answer = f"**{gate.verdict.capitalize()}**"
    against = f" against {plain_text(gate.base)}" if gate.base else ""
    head = f"{answer}: {plain_text(gate.new)}{against}"
    if gate.identical:
        return f"## heapwise gate\n\n{head}. {plain_text(gate.note)}\n"
    told = SentenceList([row.sentence for row in gate.rows if row.verdict != "fine"])
    lines = markdown([limit_table(gate), told, *site_passages(gate)], plain=plain_text)
    return "\n".join([f"## heapwise gate\n\n{head}\n", *lines]).rstrip() + "\n"
