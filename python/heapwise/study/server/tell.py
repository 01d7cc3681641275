"""What is told about a server under load."""

from __future__ import annotations

from heapwise.document import Notice, Passage, plain_table
from heapwise.evidence import Evidence
from heapwise.model import SIDE_BY_SIDE, Result
from heapwise.study.section import Section
from heapwise.study.sentences import advice, answers, headlines
from heapwise.study.server.server_tables import growth_tables, server_tables
from heapwise.study.server.server_windows import ServerWindows, server_windows
from heapwise.wording.numbers import scale_for
from heapwise.wording.windows import NOT_INDEPENDENT

HEAD = ("load", "allocator", "kept windows", "quantity", "mean", "95 % interval, one process")

HEADLINES = ("throughput", SIDE_BY_SIDE, "latency_p99", "latency_p99_9", "tree_peak", "after_idle")
"""Quantities whose sentences are shown in the terminal; the report has all."""


def tell(result: Result, evidence: Evidence) -> list[Passage]:
    findings = [finding for finding in result.findings if finding.cell.quantity in HEADLINES]
    return [
        *server_tables(result),
        *window_passages(evidence),
        *growth_tables(evidence),
        *answers(result, findings),
        *headlines(result),
        advice(result),
    ]


def window_passages(evidence: Evidence) -> list[Passage]:
    """Empty if the load was not cut into windows."""
    rows = list(map(_words, server_windows(evidence)))
    note = "The process is the one in the middle of its allocator's processes."
    return [plain_table([HEAD, *rows]), Notice(f"{NOT_INDEPENDENT} {note}")] if rows else []


def _words(one: ServerWindows) -> tuple[str, ...]:
    scale = scale_for([one.mean], one.unit)
    ends = "" if one.low is None or one.high is None else scale.ends(one.low, one.high)
    quantity = "p99" if one.unit == "s" else "throughput"
    kept = f"{one.kept} of {one.windows}"
    return one.load, one.subject, kept, quantity, scale.text(one.mean), ends


def _section(_: Result, evidence: Evidence) -> list[Passage]:
    return window_passages(evidence)


SECTIONS = [Section("server_windows", "Windows of one server", 46, _section)]
