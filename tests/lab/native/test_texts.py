"""What experiments say of themselves, to readers who know the published reports by their titles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).resolve().parents[3] / "experiments"
FILES = sorted(
    [*EXPERIMENTS.rglob("*.cpp"), *EXPERIMENTS.rglob("*.hpp"), *EXPERIMENTS.rglob("*.toml")]
)

UNKNOWN = re.compile(r"forerunner|\bseed 0|the seed's|kind to whatever|seldom felt", re.IGNORECASE)
"""Names and pictures that no document introduces."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(EXPERIMENTS).as_posix())
def test_sources_are_called_by_names_that_a_reader_can_look_up(path: Path) -> None:
    assert not UNKNOWN.findall(path.read_text(encoding="utf-8"))


def test_each_small_experiment_declares_an_answer_or_an_expectation() -> None:
    silent = [
        path.relative_to(EXPERIMENTS).as_posix()
        for path in EXPERIMENTS.glob("*/*.cpp")
        if path.parent.name not in ("heap", "pool", "arena", "hybrid", "attacks")
        and ".answers" not in path.read_text("utf-8")
    ]
    assert not silent
