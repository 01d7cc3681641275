"""A trace as two traces are compared: its call sites and its stacks, with names."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heapwise.errors import Problem
from heapwise.trace.contents import read_contents
from heapwise.trace.file import open_trace
from heapwise.trace.heap_profile import is_heap_profile
from heapwise.trace.names.call_stacks import CallStack, call_stacks
from heapwise.trace.names.named_sites import NamedSite, named_sites
from heapwise.trace.names.symbols import Symbols
from heapwise.trace.names.wrappers import Wrappers


@dataclass(frozen=True)
class NamedTrace:
    """program: the file that was recorded, without symbolic links; empty if it is not known."""

    sites: list[NamedSite]
    stacks: list[CallStack]
    program: str


def read_named_trace(
    path: Path, wrappers: Wrappers, tell: Callable[[float], None] | None = None
) -> NamedTrace:
    """tell: as read_contents. Problem E062 for a profile, which has a sample of the blocks."""
    if is_heap_profile(path):
        raise _no_trace(path)
    with open_trace(path) as opened:
        if opened.sample_every:
            raise _no_trace(path)
        contents = read_contents(opened, tell)
        stacks = call_stacks(opened, contents, Symbols(opened.modules))
        program = opened.about.get("program")
        return NamedTrace(
            named_sites(contents, stacks, wrappers),
            stacks,
            os.path.realpath(program) if isinstance(program, str) and program else "",
        )


def _no_trace(path: Path) -> Problem:
    return Problem(
        "E062",
        f"{path} is a profile, and two profiles cannot be compared",
        why="Only a trace has every block.",
        do="heapwise record -o FILE.hwt -- PROGRAM without --profile",
    )
