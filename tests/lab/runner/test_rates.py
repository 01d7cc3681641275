"""The rate that a load generator is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.runner.process.stop_switch import StopSwitch
from heapwise.study.server.load import load_of
from heapwise.study.server.run import ServerExecutor

WRK = """#!/bin/sh
echo "$@" >{asked}
echo "  100 requests in 1.00s, 1MB read"
"""


@pytest.mark.parametrize(
    ("capacity", "rate"),
    [(1_998_000.0, 1_398_600.0), (14_870.0, 10_409.0), (33.4, 23.0), (0.2, 1.0)],
)
def test_a_share_of_the_slowest_is_a_whole_number(capacity: float, rate: float) -> None:
    executor = object.__new__(ServerExecutor)
    executor.rates = {"fast": 3 * capacity, "slow": capacity}
    assert executor._rate("70%") == rate
    assert executor._rate("capacity") is None


@pytest.mark.parametrize(("rate", "word"), [(1_398_600.0, "1398600"), (23.0, "23")])
def test_a_generator_gets_it_in_figures(
    built_native: Path, tmp_path: Path, rate: float, word: str
) -> None:
    """And not as 1.3986e+06, which none of them reads."""
    generator, asked = tmp_path / "wrk", tmp_path / "asked"
    generator.write_text(WRK.format(asked=asked))
    generator.chmod(0o755)
    load = load_of(
        [str(generator), "-R", "{rate}", "-d", "{time}s"],
        {"PATH": "/usr/bin:/bin"},
        90.0,
        [],
        tmp_path,
    )
    assert load.put(rate, {}, StopSwitch()).requests == 100
    assert asked.read_text() == f"-R {word} -d 90s\n"
