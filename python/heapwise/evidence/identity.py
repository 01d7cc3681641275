"""Which library malloc came from in a process, by the lines that the probe wrote in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from heapwise.model import Identity, Library, Peer

SYSTEM_LIBRARY = re.compile(r"(libc\.so|libc-|ld-musl)")


def same_library(library: Library | None, peer: Peer) -> bool:
    """By build-id where both have one, else by file name."""
    library = library or Library()
    path = library.path or ""
    if library.build_id and peer.build_id:
        return library.build_id == peer.build_id
    if peer.path:
        return path != "" and Path(path).resolve() == Path(peer.path).resolve()
    return bool(SYSTEM_LIBRARY.match(Path(path).name))


def own_allocators(records: Iterable[Identity], system: Peer) -> set[str]:
    """Executables whose malloc is not the system's although nothing was preloaded."""
    return {record.exe for record in records if not same_library(record.malloc, system)}
