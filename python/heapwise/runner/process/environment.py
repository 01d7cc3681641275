"""What the children get for an environment: the user's, without what tunes an allocator (V20)."""

from __future__ import annotations

import hmac
import os
import random
import re
from collections.abc import Iterable, Mapping

from heapwise.model import LIBRARY_PATH, Peer

LOADER = ("LD_",)
OWN = ("HEAPWISE_",)
STORED = (
    "COLUMNS",
    "GLIBC_TUNABLES",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PATH",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
)
"""Variables that can change what a program does and hold no secrets: their values are stored."""

STORED_PREFIXES = (*LOADER, "MALLOC_", "OMP_", "GOMP_")
"""The same of whole families; those of the peers come beside them (V20 shows their values)."""

SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|_KEY|AUTH", re.IGNORECASE)
"""Names that look like secrets are never stored, whatever family they are of."""

HIDDEN = "(not stored)"
PADDING_BYTES = 4096
"""Moves the child's stack by up to a page, so that no layout is always lucky (V10)."""


def cleaned(
    environment: Mapping[str, str],
    tuning: Iterable[str],
    *,
    keep: bool = False,
) -> tuple[dict[str, str], list[str]]:
    """(what the children get, names that were left out).

    tuning: starts of the variables that tune what is measured. keep: leaves the user's own in. Of
    the loader's variables only the path of libraries stays.
    """
    tuners = {
        name for name in environment if name.startswith((*LOADER, *tuning)) and name != LIBRARY_PATH
    }
    ours = {name for name in environment if name.startswith(OWN)} - tuners
    out = set() if keep else tuners
    left = {name: value for name, value in sorted(environment.items()) if name not in ours | out}
    return left, sorted(out)


def to_store(environment: Mapping[str, str], tuning: Iterable[str] = ()) -> dict[str, str]:
    """Every name, and the values that are known to matter. tuning: starts of the variables that
    tune what is measured. Why: docs/design/store.md#what-a-run-keeps-of-the-environment."""
    prefixes = (*STORED_PREFIXES, *tuning)
    return {
        name: value
        if (name in STORED or name.startswith(prefixes)) and not SECRET.search(name)
        else HIDDEN
        for name, value in environment.items()
    }


def from_store(stored: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run that goes on. Values that were not stored are today's; a variable
    that is gone today is left out."""
    return {
        name: now[name] if value == HIDDEN else value
        for name, value in stored.items()
        if value != HIDDEN or name in now
    }


def marks(stored: Mapping[str, str], environment: Mapping[str, str], key: bytes) -> dict[str, str]:
    """For each variable whose value is not stored, a mark by which the same value is recognised.

    It is an HMAC with the store's key: without the key not even a short value can be guessed.
    """
    return {
        name: hmac.digest(key, os.fsencode(f"{name}={environment[name]}"), "sha256").hex()[:16]
        for name, value in stored.items()
        if value == HIDDEN and name in environment
    }


def padding(seed: int, process_number: int) -> str:
    """A string of random length, the same for the same run and process."""
    return "x" * random.Random(f"{seed}/padding/{process_number}").randrange(PADDING_BYTES)


def of_child(
    peer: Peer | None, environment: Mapping[str, str], libraries: Iterable[str], padded: str
) -> dict[str, str]:
    """What one process gets. ``libraries`` are preloaded in this order, before the user's own."""
    return (
        (peer.environment if peer else {})
        | dict(environment)
        | {
            "LD_PRELOAD": preload(*libraries, also=environment.get("LD_PRELOAD", "")),
            "HEAPWISE_PAD": padded,
        }
    )


def preload(*libraries: str, also: str = "") -> str:
    """The value of LD_PRELOAD; empty parts are left out."""
    return ":".join(part for part in (*libraries, also) if part)
