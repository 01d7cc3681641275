"""The table of instructions in each profile has what each profile does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import profile_paths
from conformance import subject

PAIR = "malloc 64, free"


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Column -> instructions of a pair."""
    if shutil.which("valgrind") is None:
        pytest.fail("no valgrind: apt-get install valgrind")
    folder: Path = tmp_path_factory.mktemp("paths")
    native = subject.library().parent
    return {
        column.name: profile_paths.counts_of(column, native, folder, [PAIR])[PAIR]
        for column in profile_paths.columns()
    }


def test_a_profile_that_does_more_takes_more_instructions(counts: dict[str, float]) -> None:
    assert 0 < counts["fast"] <= counts["default"] < counts["guarded"] < counts["hardened"] < 1000
    for profile in ("guarded", "hardened"):
        assert counts[f"{profile}, call sites"] > counts[profile] + 50


def test_a_path_that_a_column_has_not_is_a_dash() -> None:
    counts = {"one": {"a": 12.0, "b": 1234.4}, "two": {"b": 5.0}}
    assert profile_paths.lines_of(counts) == [
        "| instructions | one | two |",
        "|---|---|---|",
        "| a | 12 | - |",
        "| b | 1,234 | 5 |",
    ]
