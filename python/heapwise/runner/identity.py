"""Did malloc really come from the library that the row names (V1)?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from heapwise.evidence.identity import same_library
from heapwise.model import Peer

IGNORED = re.compile(rb"ERROR: ld\.so: object '([^']*)' from LD_PRELOAD cannot be preloaded[^\n]*")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The probe's lines, one per process that started; a torn line is not evidence and is left."""
    try:
        text = path.read_bytes()
    except OSError:
        return []
    records = []
    for line in text.split(b"\n"):
        try:
            record = msgspec.json.decode(line.decode(errors="replace")) if line else None
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def loader_refusal(stderr: bytes) -> str:
    """The loader's own words when it went on without the library; "" when it did not."""
    found = IGNORED.search(stderr)
    return found.group(0).decode(errors="replace") if found else ""


def wrong_library(records: list[dict[str, Any]], peer: Peer, exempt: set[str]) -> str:
    """Why the records do not prove ``peer``; "" when they do.

    ``exempt`` are executables that have an allocator of their own whatever is preloaded.
    """
    if not records:
        return "the probe left no line: it was not loaded into the program"
    for record in records:
        library = record.get("malloc") or {}
        if not same_library(library, peer) and record.get("exe") not in exempt:
            return (f"malloc of {record.get('exe', 'the program')} came from "
                    f"{library.get('path') or 'an unknown place'}, not from {peer.name}")
    return ""
