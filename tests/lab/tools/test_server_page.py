"""The page of servers: what it prints of a run, and of one without a sound sample."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from synthetic import compare_run

from heapwise.evidence import Evidence
from heapwise.report import View

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from servers.page import page
from servers.sampling import table


def test_a_server_without_a_figure_has_no_table() -> None:
    stored = compare_run()
    text = page({"redis": View(Evidence(replace(stored, samples=[])))})
    assert "## redis" in text
    assert "| allocator |\n" not in text
    assert "## The machine" in text


def test_sampling_has_an_interval_beside_that_of_the_same_twice() -> None:
    each = {"wall_s": 1.0, "cpu_s": 1.0, "share": 0.0005}
    rounds = [{"plain": each, "plain again": each,
               "looked at": {**each, "wall_s": 1.01 + 0.001 * number}} for number in range(5)]
    text = "\n".join(table({"rounds": rounds}))
    assert "| plain again over plain, wall_s | +0.00 % |" in text
    assert "| looked at over plain, wall_s | +1.20 % |" in text
    assert "0.050 %" in text
