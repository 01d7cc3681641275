"""Which library malloc came from in a process, by the lines that the probe wrote in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from heapwise.model import Peer

SYSTEM_LIBRARY = re.compile(r"(libc\.so|libc-|ld-musl)")


def same_library(library: dict[str, Any], peer: Peer) -> bool:
    """By build-id where both have one, else by file name."""
    seen, path = library.get("build_id"), str(library.get("path") or "")
    if seen and peer.build_id:
        return bool(seen == peer.build_id)
    if peer.path:
        return path != "" and Path(path).resolve() == Path(peer.path).resolve()
    return bool(SYSTEM_LIBRARY.match(Path(path).name))


def own_allocators(records: list[dict[str, Any]], system: Peer) -> set[str]:
    """Executables whose malloc is not the system's although nothing was preloaded."""
    return {
        str(record.get("exe")) for record in records
        if not same_library(record.get("malloc") or {}, system)
    }
