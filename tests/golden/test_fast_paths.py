"""The fast paths of malloc and free take as many instructions as they did.

A difference under the same compiler fails: it is a change of ours, to be undone or recorded. What
another compiler makes of them is reported only.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import fast_paths
import instruction_counts
from conformance import subject

RECORD_THEM = "if that is meant: PYTHONPATH=tools .venv/bin/python -m fast_paths --record"


@pytest.fixture(scope="module")
def library() -> Path:
    try:
        return subject.library()
    except FileNotFoundError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="module")
def counts(library: Path) -> dict[str, float]:
    if shutil.which("valgrind") is None:
        pytest.fail("no valgrind: apt-get install valgrind")
    return fast_paths.measure(library)


def test_as_many_instructions_as_recorded(library: Path, counts: dict[str, float]) -> None:
    compiler = instruction_counts.compiler_of(library)
    figures = instruction_counts.recorded(fast_paths.RECORD)
    if compiler not in figures:
        pytest.skip(f"nothing on record for {compiler}; it makes of them {counts}")
    changed = instruction_counts.differences(figures[compiler], counts)
    assert not changed, "\n".join([*changed, RECORD_THEM])


def test_the_figures_are_instructions_of_the_heap(counts: dict[str, float]) -> None:
    """Not zero, which a misspelt function would give, and not a loop of the program's own."""
    assert counts["free of null"] < counts["malloc 64, free"] < 100
    assert all(count > 0 for count in counts.values())
    each_of_64 = counts["64 blocks of 16 to 1024"] / 64
    assert each_of_64 == pytest.approx(counts["malloc 64, free"], rel=0.5)
    assert counts["1000 blocks of 64"] > 1000 * counts["malloc 64, free"]


def test_every_difference_is_told() -> None:
    before = {"same": 1.0, "more": 2.0, "gone": 3.0}
    now = {"same": 1.0, "more": 2.5, "new": 4.0}
    assert instruction_counts.differences(before, now) == [
        "gone: none instructions, 3 on record",
        "more: 2.5 instructions, 2 on record",
        "new: 4 instructions, none on record",
    ]
    assert instruction_counts.differences(before, before) == []


def test_written_counts_are_read_back(tmp_path: Path) -> None:
    record = tmp_path / "record.toml"
    assert instruction_counts.recorded(record) == {}
    figures = {"one (1) 2.0": {"a, b": 41.0, "c": 58.185}, "two": {"d": 1.0}}
    instruction_counts.write(record, "Figures", figures)
    assert instruction_counts.recorded(record) == figures
    assert record.read_text().startswith("# Figures, each time")
