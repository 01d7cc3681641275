"""What the children get for an environment: the user's, without what tunes an allocator (V20)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping

from heapwise.model import Peer

LOADER = ("LD_",)
OURS = ("HEAPWISE_",)
SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|API_?KEY|AUTH", re.IGNORECASE)
HIDDEN = "(not stored)"
PADDING_BYTES = 4096
"""Moves the child's stack by up to a page, so that no layout is always lucky (V10)."""


def cleaned(
    environment: Mapping[str, str], peers: Iterable[Peer], *, keep: bool = False,
    also: Iterable[str] = (),
) -> tuple[dict[str, str], list[str]]:
    """(what the children get, names that were left out). ``keep`` leaves the user's own in.

    ``also``: starts of further variables that tune what is measured.
    """
    prefixes = [*LOADER, *also, *(p for peer in peers for p in peer.environment_prefixes)]
    tuning = {name for name in environment if name.startswith(tuple(prefixes))}
    ours = {name for name in environment if name.startswith(OURS)} - tuning
    out = set() if keep else tuning
    left = {
        name: value for name, value in sorted(environment.items()) if name not in ours | out
    }
    return left, sorted(out)


def to_store(environment: Mapping[str, str]) -> dict[str, str]:
    """Values that look like secrets do not belong into a file that people send to each other."""
    return {
        name: HIDDEN if SECRET.search(name) else value for name, value in environment.items()
    }


def from_store(stored: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run that goes on; hidden values are taken from today's."""
    return {
        name: now.get(name, "") if value == HIDDEN else value for name, value in stored.items()
    }


def padding(seed: int, process_number: int) -> str:
    """A string of random length, the same for the same run and process."""
    return "x" * random.Random(f"{seed}/padding/{process_number}").randrange(PADDING_BYTES)


def of_child(
    peer: Peer | None, environment: Mapping[str, str], libraries: Iterable[str], padded: str
) -> dict[str, str]:
    """What one process gets. ``libraries`` are preloaded in this order, before the user's own."""
    return (peer.environment if peer else {}) | dict(environment) | {
        "LD_PRELOAD": preload(*libraries, also=environment.get("LD_PRELOAD", "")),
        "HEAPWISE_PAD": padded,
    }


def preload(*libraries: str, also: str = "") -> str:
    """The value of LD_PRELOAD; empty parts are left out."""
    return ":".join(part for part in (*libraries, also) if part)
