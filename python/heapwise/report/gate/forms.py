"""The forms by the suffix of their file."""

from __future__ import annotations

from collections.abc import Callable

from heapwise.model import GateResult
from heapwise.report.gate import bencher, junit, sarif, step_summary

FORMS: dict[str, Callable[[GateResult], str]] = {
    ".bmf.json": bencher.write,
    ".xml": junit.write,
    ".sarif": sarif.write,
    ".md": step_summary.write,
}
"""Suffix -> what writes the text of such a file."""


def suffix_of(name: str) -> str:
    """``""`` for a name that none of the forms has."""
    return next((suffix for suffix in FORMS if name.endswith(suffix)), "")


def text(gate: GateResult, suffix: str) -> str:
    return FORMS[suffix](gate)
