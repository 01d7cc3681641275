"""Did malloc really come from the library that the row names (V1)?"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from heapwise.evidence.identity import same_library
from heapwise.model import Identity, Peer

LineT = TypeVar("LineT")

IGNORED = re.compile(rb"ERROR: ld\.so: object '([^']*)' from LD_PRELOAD cannot be preloaded[^\n]*")


def read_lines(path: Path, kind: type[LineT]) -> list[LineT]:
    """A probe's lines about processes. The launcher has counted equal ones, and has taken out those
    about an exec. A torn line is not evidence, and is left out."""
    try:
        text = path.read_bytes()
    except OSError:
        return []
    decoder, records = msgspec.json.Decoder(kind), list[LineT]()
    for line in filter(_of_a_process, text.split(b"\n")):
        with suppress(ValueError):
            records.append(decoder.decode(line.decode(errors="replace")))
    return records


def _of_a_process(line: bytes) -> bool:
    return b',"exe":' in line


def loader_refusal(stderr: bytes) -> str:
    """The loader's own words when it went on without the library; "" when it did not."""
    found = IGNORED.search(stderr)
    return found.group(0).decode(errors="replace") if found else ""


def wrong_library(records: Sequence[Identity], peer: Peer, exempt: set[str]) -> str:
    """Why the records do not prove ``peer``; "" when they do.

    ``exempt`` are executables that have an allocator of their own whatever is preloaded.
    """
    if not records:
        return "the probe left no line: it was not loaded into the program"
    for record in records:
        if not same_library(record.malloc, peer) and record.exe not in exempt:
            place = record.malloc.path if record.malloc else None
            return (
                f"malloc of {record.exe or 'the program'} came from "
                f"{place or 'an unknown place'}, not from {peer.name}{_hidden(peer.path)}"
            )
    return ""


def _hidden(path: str | None) -> str:
    """Why a program of root's that goes on as another user may not load the library."""
    if not path or os.geteuid() != 0:
        return ""
    for place in (Path(path), *Path(path).parents):
        with suppress(OSError):
            needed = stat.S_IXOTH if place.is_dir() else stat.S_IROTH
            if not place.stat().st_mode & needed:
                return (
                    f"; other users may not open {place}: if the program runs as another user, "
                    "chmod o+x, or add the peer with XDG_DATA_HOME in a folder for all"
                )
    return ""
