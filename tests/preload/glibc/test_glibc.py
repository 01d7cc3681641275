"""What programs know of glibc's malloc beyond the standards, in each profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOON = {"HEAPWISE_MALLOC_PURGE_DELAY_MS": "20"}
FEW_PAGES, MANY_PAGES = 500, 5000  # of nearly 10,000 that the program uses


@pytest.mark.parametrize("name", ["libc_names", "calloc_usable", "mallopt"])
def test_the_program_ends_well(host: Any, profile: Any, compiled: Any, name: str) -> None:
    program = compiled(HERE / f"{name}.c")
    wanted = host.run(program)
    done = profile.run(program)
    assert (wanted.status, wanted.err) == (0, "")
    assert (done.status, done.out, done.err) == (0, wanted.out, "")


def test_a_program_may_ask_that_free_memory_stays(profile: Any, compiled: Any) -> None:
    program = compiled(HERE / "keeps_memory.c")
    assert int(profile.run(program, 1, **SOON).out) < FEW_PAGES
    assert int(profile.run(program, 0, **SOON).out) > MANY_PAGES


def test_memory_that_stays_is_there_after_the_program_has_grown(
    profile: Any, compiled: Any
) -> None:
    if "hardened" in profile.name:
        pytest.skip("it gives the pages of each large block back that is freed")
    program = compiled(HERE / "keeps_while_growing.c")
    kept = int(profile.run(program, 1, HEAPWISE_MALLOC_PURGE_THREAD="0").out)
    missing = int(profile.run(program, 0, HEAPWISE_MALLOC_PURGE_THREAD="0").out)
    assert kept < FEW_PAGES
    assert missing > 3000
