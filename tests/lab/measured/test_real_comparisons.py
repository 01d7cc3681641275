"""Real processes on this machine: the same thing twice is never called different, 3 % is found.

`make test` makes few comparisons, `make test-long` 300 and 20 of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import Row
from heapwise.selftest.plants import neighbours
from heapwise.selftest.workbench import Bent, Workbench

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("built_native")]

LONG = os.environ.get("HEAPWISE_TIER") == "long"
SAME_COMPARISONS = 300 if LONG else 6
PLANTED_COMPARISONS, TRIES = (20, 60) if LONG else (3, 8)
FOUND = 0.95 if LONG else 1 / 3
"""Of the comparisons that have to find 3 %: one in twenty may miss it, and so one of three may."""

REPEATED = 10_000
"""Is added to the seed of a comparison that is made again."""

ROUNDS, ROUNDS_OF_PLANTED = 8, 14
LARGEST_FLOOR = 0.015
"""Of a comparison that has to find 3 %."""

Compared = Callable[[], Evidence]


def times(evidence: Evidence, subject: str) -> tuple[Row, float | None]:
    """The row of the subject's wall time, and the noise floor of the comparison."""
    result = analyse(evidence)
    row = next(row for row in result.rows if row.subject == subject and row.quantity == "wall_time")
    return row, result.noise_floor


def called_different(folder: Path, number: int) -> tuple[str, str]:
    """What the same thing was called, "" for nothing; and in words."""
    with neighbours(1):
        evidence = Workbench(folder / str(number), seed=number).compare(
            ("work", "3000"), [Bent("same")], ROUNDS
        )
    row, floor = times(evidence, "same")
    if row.verdict not in ("better", "worse"):
        return "", ""
    return row.verdict, (
        f"{number}: {row.verdict}, {row.ratio_low:.4f} to {row.ratio_high:.4f}, noise floor {floor}"
    )


def test_the_same_thing_twice_is_never_called_different(tmp_path: Path) -> None:
    """Beside a neighbour that uses a processor all the time. In few comparisons a call counts if
    another one agrees: one in hundreds may be wrong, and what is wrong with the machine shows
    again."""
    called = []
    for number in range(SAME_COMPARISONS):
        verdict, words = called_different(tmp_path, number)
        if verdict and (LONG or called_different(tmp_path, REPEATED + number)[0] == verdict):
            called.append(words)
    print(f"{len(called)} of {SAME_COMPARISONS} called different", *called, sep="\n  ")
    assert called == []


def test_three_percent_are_found_with_the_right_sign(tmp_path: Path) -> None:
    """Comparisons with a noise floor over 1.5 % do not count, but may not call it faster. If they
    are more than half, the machine is too noisy: the others have their floor by chance."""
    slower = Bent("slower", {"HEAPWISE_TOY_SLOWER_PERCENT": "3"})
    verdicts: list[str] = []
    tried = 0
    while tried < TRIES and len(verdicts) < PLANTED_COMPARISONS:
        evidence = Workbench(tmp_path / str(tried), seed=tried).compare(
            ("compute", "20000"), [slower], ROUNDS_OF_PLANTED
        )
        row, floor = times(evidence, "slower")
        assert row.verdict != "better"
        if floor is not None and floor < LARGEST_FLOOR:
            verdicts.append(row.verdict)
        tried += 1
    found = verdicts.count("worse")
    print(f"found in {found} of {len(verdicts)} comparisons with a floor under 1.5 %")
    if len(verdicts) < tried / 2:
        pytest.skip(f"too noisy: {len(verdicts)} of {tried} comparisons had a floor under 1.5 %")
    assert found >= FOUND * len(verdicts)
