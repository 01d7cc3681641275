"""A measured process prints only what its program prints, under every allocator.

A line of an allocator is a system call that the other allocators do not make. It also stands
between the program's own lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heapwise.catalog import installed_peers
from heapwise.store import read_run, run_ids

pytestmark = pytest.mark.usefixtures("built_native")

PROGRAM = ("/bin/sh", "-c", 'echo "$LD_PRELOAD"')
"""Its stderr stays empty. Its output differs from the baseline's, so the run keeps its stderr."""

USERS = {"HEAPWISE_RUNS": "1", "HEAPWISE_SEED": "7", "HEAPWISE_MALLOC_STATS": "0"}
"""What users may have set beside HEAPWISE_STORE. The laboratory itself sets HEAPWISE_PAD,
HEAPWISE_PROBE_OUT and HEAPWISE_COUNT_OUT."""


@pytest.mark.parametrize(
    "words", [("--baseline", "glibc"), ("--baseline", "jemalloc", "--keep-env")], ids=" ".join
)
def test_no_allocator_prints_anything(
    heapwise: Any, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Except the baseline, which is another one in each of the two runs."""
    installed = {peer.name for peer in installed_peers() if not peer.on_request}
    assert {"glibc", "jemalloc", "heapwise"} <= installed
    once = ("--rounds", "1", "--warmup", "0", "--force")
    heapwise("compare", *words, *once, "--", *PROGRAM, env=USERS)
    store = tmp_path / "store"
    processes = read_run(store, run_ids(store)[-1]).processes
    printed = {
        process.subject: process.facts.stderr_tail
        for process in processes
        if process.status == "output_differs"
    }
    assert printed == dict.fromkeys(installed - {words[1]}, "")
