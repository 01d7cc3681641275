"""Markdown for the summary of a step or a comment: the answer, then a table of the limits."""

from __future__ import annotations

from heapwise.document.markdown import markdown
from heapwise.model import GateResult
from heapwise.report.formats.markdown import plain_text
from heapwise.study.gate.tell import limit_table, site_passages


def write(gate: GateResult) -> str:
    answer = f"**{gate.verdict.capitalize()}**"
    head = f"{answer}: {plain_text(gate.new)} against {plain_text(gate.base)}"
    if gate.identical:
        return f"## heapwise gate\n\n{head}. {plain_text(gate.note)}\n"
    lines = [
        f"## heapwise gate\n\n{head}\n",
        *markdown([limit_table(gate)], plain=plain_text),
        *(f"- {plain_text(row.sentence)}" for row in gate.rows if row.verdict != "fine"),
    ]
    if sites := site_passages(gate):
        lines += ["", *markdown(sites, plain=plain_text)]
    return "\n".join(lines).rstrip() + "\n"
