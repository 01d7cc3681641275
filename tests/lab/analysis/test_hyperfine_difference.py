"""Two files of ``hyperfine --export-json`` beside each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heapwise.analysis.across_runs.hyperfine_difference import hyperfine_difference
from heapwise.errors import Problem
from heapwise.model import Difference
from heapwise.store.hyperfine_file import read_hyperfine_file

FAST = [0.100, 0.101, 0.099, 0.102, 0.100, 0.101, 0.098, 0.100]
SLOW = [2 * seconds for seconds in FAST]


def result(command: str, times: list[float] | None, **more: Any) -> dict[str, Any]:
    """With the keys that hyperfine writes and nobody reads here."""
    return {
        "command": command,
        "mean": 0.1,
        "stddev": None,
        "exit_codes": [0, None],
        **({} if times is None else {"times": times}),
        **more,
    }


def of(tmp_path: Path, *files: list[dict[str, Any]]) -> Difference:
    read = []
    for number, results in enumerate(files):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps({"results": results}))
        read.append((path.name, read_hyperfine_file(path)))
    return hyperfine_difference(*read)


def test_the_same_command_is_compared_by_its_name(tmp_path: Path) -> None:
    found = of(tmp_path, [result("a", FAST), result("b", FAST)], [result("b", SLOW)])
    [row] = found.rows
    assert (row.subject, row.verdict) == ("b", "cannot tell")
    assert row.ratio == pytest.approx(2)
    assert row.low is not None
    assert row.high is not None
    assert 1.9 < row.low < 2 < row.high < 2.1
    assert "do not say how much two of them differ" in found.notes[0]
    assert "only one file has: a" in found.notes


def test_two_files_with_one_command_each_are_compared_whatever_it_is(tmp_path: Path) -> None:
    found = of(tmp_path, [result("./old", SLOW)], [result("./new", FAST)])
    assert [row.verdict for row in found.rows] == ["cannot tell"]
    assert found.rows[0].ratio == pytest.approx(0.5)
    assert "the commands differ: ./old, and ./new" in found.notes


def test_few_or_no_times_give_no_verdict(tmp_path: Path) -> None:
    assert [r.verdict for r in of(tmp_path, *[[result("a", FAST[:2])]] * 2).rows] == ["cannot tell"]
    assert of(tmp_path, *[[result("a", None)]] * 2).rows == []
    zero = of(tmp_path, [result("a", [0.0, 0.1])], [result("a", FAST)])
    assert [row.verdict for row in zero.rows] == ["cannot tell"]


def test_parameters_are_shown(tmp_path: Path) -> None:
    same = [result("sleep 1", FAST, parameters={"n": "1"})]
    assert [dict(row.cell.parameters) for row in of(tmp_path, same, same).rows] == [{"n": "1"}]


def test_another_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"rows": []}')
    with pytest.raises(Problem, match="not a file of hyperfine") as found:
        read_hyperfine_file(tmp_path / "x.json")
    assert found.value.id == "E015"
