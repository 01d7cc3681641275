"""A difference that something else than the work explains has no verdict, and the row says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from planted import of_two_days, slowed_by_the_one_before
from synthetic import Script, compare_run

from heapwise.analysis import analyse
from heapwise.evidence import Evidence
from heapwise.model import Row
from heapwise.store import StoredRun


def equal() -> Script:
    """All subjects take the same time."""
    return Script(rounds=40, time=dict.fromkeys(Script().time, 1.0))


def times(stored: StoredRun) -> dict[str, Row]:
    """The rows of wall time, without controls."""
    return {
        row.subject: row
        for row in analyse(Evidence(stored)).rows
        if row.cell.quantity == "wall_time" and not row.subject.endswith("-control")
    }


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (
            lambda: slowed_by_the_one_before(equal()),
            "the process that ran before changes its ratio",
        ),
        (lambda: of_two_days(0.05), "session"),
    ],
)
def test_a_row_says_what_else_explains_it(plant: Callable[[], StoredRun], words: str) -> None:
    explained = [row for row in times(plant()).values() if words in row.note]
    assert explained
    assert {row.verdict for row in explained} == {"cannot tell"}


def test_rows_of_a_quiet_run_keep_their_verdicts() -> None:
    found = times(compare_run())
    assert not [row for row in found.values() if "ran before" in row.note or "session" in row.note]
    assert {"better", "worse"} & {row.verdict for row in found.values()}
