"""JSON: the whole result, as ``--json`` prints it."""

from __future__ import annotations

import msgspec

from heapwise.analysis import to_json
from heapwise.model import Result
from heapwise.store import StoredRun

NAME, SUFFIX, MIME = "json", "json", "application/json"
ABOUT = "run, rows, trust and advice, as run --json and compare --json print them"


def write(stored: StoredRun, result: Result) -> str:
    return msgspec.json.format(msgspec.json.encode(to_json(result)), indent=1).decode() + "\n"
