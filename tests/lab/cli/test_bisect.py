"""What ``bisect`` says when it cannot tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from heapwise.cli import bisect
from heapwise.cli.frame.tell.console import Console
from heapwise.runner.commits.bisection import BisectionResult


@pytest.mark.parametrize(("given_s", "asked"), [(180.0, "10m"), (600.0, "20m")])
def test_more_time_is_asked_for_than_was_given(
    given_s: float, asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    trees: Any = SimpleNamespace(title=str, layouts=0)
    search: Any = SimpleNamespace(
        trees=trees,
        suspects=SimpleNamespace(went_back=False),
        time_s=given_s,
        metric="cpu_time",
        quantity="cpu_time",
    )
    outcome = BisectionResult("", ["a", "b", "c"], "the two ends do not differ")
    bisect._show(outcome, search, Console(), "cpu_time", keep=True)
    assert f"--time {asked} measures each stage longer." in capsys.readouterr().out
