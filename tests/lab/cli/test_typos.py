"""An option that there is not: the answer names those that are perhaps meant, and no others."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from heapwise.wording.suggest import near_options

Heapwise = Callable[..., "subprocess.CompletedProcess[str]"]

OPTIONS = ["--check", "--cpus", "--help", "--rounds", "--runs", "--output-file", "--show-output"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--roundz", ["--rounds"]),
        ("--chek", ["--check"]),
        ("--run", ["--runs"]),
        ("--output", ["--output-file"]),
        ("--file", ["--output-file"]),
        ("--threads", []),
        ("--r", []),
        ("--", []),
    ],
)
def test_near_options_are_proposed_and_no_others(typed: str, meant: list[str]) -> None:
    assert near_options(typed, OPTIONS) == meant


def test_the_answer_names_the_option_that_is_meant(heapwise: Heapwise) -> None:
    done = heapwise("compare", "--tim", "3s", "--", "true")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "there is no option --tim. Do you mean --time, --time-unit or --timeout?" in said
    done = heapwise("compare", "--verbose", "--", "true")
    assert "there is no option --verbose. Nothing was started." in " ".join(done.stderr.split())
