"""The comparison of ``make demo`` tells allocators apart on a busy machine, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.analysis.verdicts.rows import make_rows
from workshop.busy_demo import measure, summary, told

pytestmark = [pytest.mark.alone, pytest.mark.long, pytest.mark.usefixtures("built_native")]

LOOPS, TIME, LEAST = 3, "3m", 4


def test_four_of_six_allocators_are_told_apart_beside_three_busy_loops(tmp_path: Path) -> None:
    found = told(make_rows(measure(tmp_path / "store", LOOPS, TIME)))
    assert sum(one.is_told for one in found) >= LEAST, [summary(found), *map(str, found)]
    assert not any(one.is_wrong for one in found), [str(one) for one in found]
