"""The pools take as many instructions as they did: a difference is meant, or undone."""

from __future__ import annotations

import shutil

import pytest
from shared import result_once

import instruction_counts
import pool_paths

RECORD_THEM = "if that is meant: PYTHONPATH=tools .venv/bin/python -m fast_paths --record"
POLICIES = ("unsynchronized", "locked", "lock_free", "thread_cached", "thread_cached by handle")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, float]]:
    if shutil.which("valgrind") is None:
        pytest.fail("no valgrind: apt-get install valgrind")
    return result_once(tmp_path_factory, "pool-paths", lambda _: pool_paths.measure())


def test_as_many_instructions_as_recorded(measured: tuple[str, dict[str, float]]) -> None:
    compiler, counts = measured
    figures = instruction_counts.recorded(pool_paths.RECORD)
    if compiler not in figures:
        pytest.skip(f"nothing on record for {compiler}; it makes of them {counts}")
    changed = instruction_counts.differences(figures[compiler], counts)
    assert not changed, "\n".join([*changed, RECORD_THEM])


@pytest.mark.parametrize("size", [16, 64])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_figures_are_instructions_of_the_pools(
    measured: tuple[str, dict[str, float]], policy: str, size: int
) -> None:
    """Not zero, and not a path that ends early because its pool is exhausted."""
    counts = measured[1]
    pair = counts[f"{policy} {size}: pair"]
    assert 10 < pair < 300
    small, large = (counts[f"{policy} {size}: {count} up and down"] for count in (64, 1000))
    assert 64 * 10 < small < 64 * 1.2 * max(pair, 70)
    assert large == pytest.approx(small * 1000 / 64, rel=0.5)
