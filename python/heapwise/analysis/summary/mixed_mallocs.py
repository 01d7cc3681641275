"""Why every allocator that is preloaded fails under a program that runs well without one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from heapwise.model import Process

FEWEST = 2
"""Allocators that must fail alike before it can hardly be the fault of one."""

FOREIGN = re.compile(r"invalid (pointer|free)", re.IGNORECASE)
"""How mallocs say that they are given a block of another: glibc, Heapwise."""

WHY = (
    "All of them failed, and the system's malloc did not, and they were given blocks of another "
    "malloc: the program, or a library that it loads, mixes two. It has a malloc or an operator "
    "new of its own, or opens a library with RTLD_DEEPBIND. No allocator that is preloaded can "
    "serve it. heapwise record shows what it allocates."
)


def mixed_mallocs(tried: Mapping[str, Sequence[Process]]) -> str:
    """One passage, or "" if the processes do not show it.

    tried: allocator -> its processes. The baseline and its second label, which did not fail, are
    not among them.
    """
    foreign = [_was_given_foreign(processes) for processes in tried.values()]
    return WHY if len(foreign) >= FEWEST and all(foreign) else ""


def _was_given_foreign(processes: Sequence[Process]) -> bool:
    return any(FOREIGN.search(process.facts.stderr_tail or "") for process in processes)
