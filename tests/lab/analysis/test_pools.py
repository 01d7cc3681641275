"""The pool family: no sentence about blocks that nobody uses."""

from __future__ import annotations

import json

from synthetic_blocks import bulk

from heapwise.analysis import analyse
from heapwise.analysis.as_json import to_json
from heapwise.analysis.verdicts.standing import standings
from heapwise.evidence import Evidence
from heapwise.store import StoredRun
from heapwise.trust import check_run
from workshop.aims import Goal, goal_line, goals


def judged(stored: StoredRun) -> list[Goal]:
    evidence = Evidence(stored)
    return goals(evidence, check_run(evidence))


def test_rows_of_blocks_that_nobody_uses_are_only_in_the_tables() -> None:
    """Its figures are in the tables. Without it, all the same sentences are there."""
    stored = bulk("none", "write", "all")
    result = analyse(Evidence(stored))
    assert {row.parameters["touch"] for row in result.rows} == {"none", "write", "all"}
    said = json.dumps(
        [
            [goal_line(goal) for goal in judged(stored)],
            to_json(result)["expectations"],
            result.headlines,
            [f.sentence for f in result.findings],
            result.advice,
        ]
    )
    assert "write" in said
    assert "none" not in said.replace("null", "")
    assert {f.cell.parameters["touch"] for f in result.findings} == {"write", "all"}
    assert {s.cell.parameters["touch"] for s in standings(Evidence(stored))} == {"write", "all"}
    assert any(f.answer for f in result.findings)
    assert judged(stored)
    assert result.headlines
    only = analyse(Evidence(bulk("none")))
    assert (only.headlines, only.findings) == ([], [])
    assert all(goal.ratio is None for goal in judged(bulk("none")))
