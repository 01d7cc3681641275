"""Where the native parts are: the launcher, the probes and the experiments."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from pathlib import Path

from heapwise import __version__
from heapwise.errors import Problem

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent.parent
LAUNCHER, PROBE, COUNTER = "heapwise-launch", "libheapwise-probe.so", "libheapwise-count.so"
TOY, KNOWN = "heapwise-toy", "heapwise-known"
"""A program and an experiment with known answers, for the self-test."""

SCRIPT_MAKER = "heapwise-script"
"""Makes a script for a replay of a trace."""

CONTENTS = "heapwise-contents"
"""Says what is in a trace."""

EMPTY = "heapwise-empty"
"""A program that only starts and ends."""

RECORDER, DRAIN = "libheapwise-recorder.so", "heapwise-record"
"""The library that is preloaded into a recorded program, and the process that writes its trace."""

PROFILER = "libheapwise-profiler.so"
"""Preloaded instead of RECORDER, it writes down a sample of the calls."""

OUR_MALLOC = "libheapwise-malloc.so"


def native_folder() -> Path:
    """Where the native parts are. Problem E052 when there are none, or none can be preloaded."""
    folder = _find_folder()
    if re.search(r"[\s:]", str(folder)):
        raise Problem(
            "E052",
            f"the native parts are in {folder}, a path with a space or a colon",
            why="LD_PRELOAD separates paths by them, so it cannot name a file there.",
            do=f"ln -s {shlex.quote(str(folder))} /tmp/native, then set "
            "HEAPWISE_NATIVE=/tmp/native",
        )
    return folder


def _find_folder() -> Path:
    """``HEAPWISE_NATIVE``, else inside the installed package, else the newest build of a checkout.

    A release build of the checkout goes before others. Problem E052 when there is none.
    """
    if configured := os.environ.get("HEAPWISE_NATIVE"):
        if Path(configured).is_dir():
            return Path(configured).absolute()
        raise Problem("E052", f"HEAPWISE_NATIVE names {configured}, which is not a folder")
    if (PACKAGE / "native" / LAUNCHER).exists():
        return PACKAGE / "native"
    builds = list(CHECKOUT.glob(f"build/*/native/{LAUNCHER}"))
    if not builds:
        raise Problem("E052", "the launcher was found neither in the package nor in build/")
    newest = max(builds, key=lambda path: ("release" in path.parts[-3], path.stat().st_mtime))
    return newest.parent


def build_fingerprint() -> str:
    """A hash of the version and of the native parts that measure: 16 hexadecimal digits.

    A part that is missing counts as empty. Problem E052 without a folder of native parts.
    """
    seen, folder = hashlib.sha256(__version__.encode()), native_folder()
    for name in (LAUNCHER, PROBE, COUNTER):
        path = folder / name
        seen.update(hashlib.sha256(path.read_bytes() if path.exists() else b"").digest())
    return seen.hexdigest()[:16]


def native_part(name: str) -> Path:
    """The path of one native part. Problem E052 when it is not there."""
    path = native_folder() / name
    if not path.exists():
        raise Problem("E052", f"{path} is missing")
    return path
