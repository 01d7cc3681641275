"""JSON: the whole result, as ``--json`` prints it."""

from __future__ import annotations

import msgspec

from heapwise.analysis import to_json
from heapwise.report.view import View
from heapwise.store.codec import encode

NAME, SUFFIX, MIME = "json", "json", "application/json"
ABOUT = "run, rows, trust and advice, as run --json and compare --json print them"


def write(view: View) -> str:
    result = view.result
    return msgspec.json.format(encode(to_json(result)), indent=1).decode() + "\n"
