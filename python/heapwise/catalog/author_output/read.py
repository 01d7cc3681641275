"""Reads a file that the author's program of a report printed, in whichever form it is."""

from __future__ import annotations

from pathlib import Path

from heapwise.catalog.author_output import delimited, google_json, number_lines, time_lines
from heapwise.catalog.author_output.damaged import DamagedOutput
from heapwise.errors import Problem
from heapwise.model import AuthorOutput

FORMS = (
    "JSON of Google Benchmark, a table with tabs or commas, lines of time, or lines of numbers "
    "with their units"
)


def read_author_output(path: Path) -> AuthorOutput:
    """Problem E015 with the line and the reason for a file that cannot be read."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise Problem("E015", f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Problem("E015", f"{path}, line {line}: it is not UTF-8") from error
    try:
        return AuthorOutput(str(path.absolute()), _records(text))
    except DamagedOutput as damage:
        raise Problem("E015", f"{path}, line {damage.line}: {damage.reason}") from damage


def _records(text: str) -> list[dict[str, float | str]]:
    if not text.strip():
        raise DamagedOutput(1, "the file is empty")
    if text.lstrip().startswith("{"):
        return google_json.records(text)
    if time_lines.is_form(text):
        return time_lines.records(text)
    if number_lines.is_form(text):
        return number_lines.records(text)
    if delimited.is_form(text):
        return delimited.records(text)
    raise DamagedOutput(1, f"the file is none of these: {FORMS}")
