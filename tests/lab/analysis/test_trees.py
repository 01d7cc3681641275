"""Rows of several kinds: which leads its own, what failed, and the goals at the published depth."""

from __future__ import annotations

import pytest
from synthetic_trees import BASE, KINDS, PEAKS, TIMES, Trees, trees_run

from heapwise.analysis import analyse
from heapwise.analysis.standing import standings
from heapwise.analysis.tree_table import tree_tables
from heapwise.evidence import Evidence
from heapwise.model import Goal, Result
from heapwise.store import StoredRun


@pytest.fixture(scope="module")
def stored() -> StoredRun:
    return trees_run(Trees(budget=True))


@pytest.fixture(scope="module")
def result(stored: StoredRun) -> Result:
    return analyse(Evidence(stored))


def goal(result: Result, name: str) -> Goal:
    return next(g for g in result.goals if g.cell.startswith(name))


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


def test_goals_are_those_of_the_published_depth(result: Result) -> None:
    verdicts = {g.cell.partition(" (")[0]: g.verdict for g in result.goals}
    assert set(verdicts.values()) == {"met"}, verdicts
    assert len(verdicts) == 10
    best = goal(result, "trees by malloc")
    assert best.of == "malloc@heapwise / any other malloc (malloc@mimalloc)"
    assert best.ratio == pytest.approx(2.5 / 2.0, rel=0.02)
    other = analyse(Evidence(trees_run(Trees(depth=18))))
    assert {g.verdict for g in other.goals} == {"not measured"}
    assert {g.note for g in other.goals} == {"no row of depth 21"}


@pytest.mark.parametrize(
    ("name", "times", "peaks"),
    [
        ("trees by malloc", {"malloc@mimalloc": 2.1}, {}),
        ("trees by malloc", {"dlmalloc": 2.1}, {}),
        ("at no more memory", {}, {"malloc@mimalloc": 120.0}),
        ("malloc before collectors, time", {"java_g1": 1.8}, {}),
        ("malloc before collectors, peak", {}, {"ocaml": 100.0}),
        ("trees by pool", {"pool": 1.8}, {}),
        ("trees by arena", {"arena": 1.2}, {}),
        ("collector, one marker", {"tiny_gc": 4.5}, {}),
        ("collector, four markers", {"boehm_4": 4.0}, {}),
        ("collector, peak memory, four", {}, {"tiny_gc": 230.0}),
    ],
)
def test_a_goal_that_is_missed_is_reported(
    name: str, times: dict[str, float], peaks: dict[str, float]
) -> None:
    found = analyse(Evidence(trees_run(Trees(times=TIMES | times, peaks=PEAKS | peaks))))
    assert goal(found, name).verdict == "not met"


def test_no_more_memory_is_asked_of_the_fastest_other_only() -> None:
    found = analyse(Evidence(trees_run(Trees(peaks=PEAKS | {"malloc@jemalloc": 10.0}))))
    assert goal(found, "at no more memory").verdict == "met"


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
    assert goal(found, "trees by arena").verdict == "not measured"
    assert "dlmalloc" in goal(found, "trees by malloc").of, "the best of those that worked"


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


def test_a_rival_that_was_wrong_once_decides_no_goal() -> None:
    """Its good rounds are fast enough to miss the goal, and do not count."""
    from dataclasses import replace

    stored = trees_run(Trees(times=TIMES | {"dlmalloc": 1.0}))
    assert goal(analyse(Evidence(stored)), "trees by malloc").verdict == "not met"
    wrong = next(p for p in stored.processes if p.subject == "dlmalloc")
    stored.processes[stored.processes.index(wrong)] = replace(wrong, status="output_differs")
    found = goal(analyse(Evidence(stored)), "trees by malloc")
    assert found.verdict == "met"
    assert "malloc@mimalloc" in found.of
