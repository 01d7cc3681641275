"""Rows of several kinds: which leads its own, and what failed."""

from __future__ import annotations

import pytest
from synthetic_trees import BASE, KINDS, Trees, trees_run

from heapwise.analysis import analyse
from heapwise.analysis.verdicts.standing import standings
from heapwise.evidence import Evidence
from heapwise.model import Result
from heapwise.store import StoredRun
from heapwise.study.trees.tree_table import tree_tables


@pytest.fixture(scope="module")
def stored() -> StoredRun:
    return trees_run(Trees(budget=True))


@pytest.fixture(scope="module")
def result(stored: StoredRun) -> Result:
    return analyse(Evidence(stored))


def test_kinds_never_share_a_ranking(stored: StoredRun) -> None:
    for standing in standings(Evidence(stored)):
        kinds = {KINDS[name.partition("/")[0]] for name in standing.places}
        assert kinds == {standing.group}


def test_each_kind_has_a_first_and_nobody_is_first_of_all(result: Result) -> None:
    assert result.advice.startswith(
        "Fastest of its kind: malloc@heapwise of explicit; "
        "shared_ptr_const_ref of reference counting; ocaml of "
        "collectors; arena of pools and arenas."
    )
    assert any(
        line.startswith("binary_trees: collectors: fastest ocaml (2.6") for line in result.headlines
    )
    assert not any("0.5" in line for line in result.headlines), "no ranking among points"
    assert not any(f.above == "arena" for f in result.findings), "no sentence across kinds"


def test_one_wrong_sum_takes_a_row_out_of_everything() -> None:
    stored = trees_run(
        Trees(
            lost={
                "ocaml": ("output_differs", "line 3 is wrong"),
                "malloc@mimalloc": ("crashed", "crashed (SIGSEGV)"),
            }
        )
    )
    found = analyse(Evidence(stored))
    lines = {
        line.subject: line for line in tree_tables(stored.run.experiments[0], found.rows)[0].lines
    }
    assert lines["ocaml"].trouble == "output differs 8 of 8: line 3 is wrong"
    assert lines["ocaml"].median("wall") is None
    assert lines["malloc@mimalloc"].trouble == "crashed (SIGSEGV) 8 of 8"
    assert "ocaml" not in found.advice


def test_a_missing_runtime_is_a_row_that_says_how_to_get_it(result: Result) -> None:
    row = next(r for r in result.rows if r.subject == "dart")
    assert (row.status, row.note, row.median, row.n) == ("missing", "apt-get install dart", None, 0)
    assert row.published_value == 4.71
    table = tree_tables(result.run.experiments[0], result.rows)[0]
    assert list(table.groups) == [
        "explicit",
        "reference counting",
        "collectors",
        "pools and arenas",
    ]
    collectors = [line.subject for line in table.groups["collectors"]]
    assert collectors == ["ocaml", "tiny_gc", "java_g1", "boehm_4", "boehm_1", "dart"]
    explicit = [line.subject for line in table.groups["explicit"]]
    assert set(explicit[-2:]) == {BASE, f"{BASE}-control"}
