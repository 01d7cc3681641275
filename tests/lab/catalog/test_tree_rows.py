"""Rows of the tree programs: what is declared, what is here, and how to get the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heapwise.catalog import read_trees, tree_output
from heapwise.catalog.program_experiments import read_program_experiment
from heapwise.catalog.tree_rows import (
    TreeRecord,
    budget_specs,
    fingerprint,
    subject_specs,
    tuning_prefixes,
)
from heapwise.errors import Problem

ROOT = Path(__file__).resolve().parents[3]
TOYS = ROOT / "tests" / "data" / "trees"
EXPERIMENTS = ROOT / "experiments" / "trees"

ROW = '[[row]]\nname = "{}"\ntitle = "t"\ngroup = "{}"\nkind = "program"\ncommand = ["sh"]\n'


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HEAPWISE_TREES", str(TOYS))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return TOYS


def declare(folder: Path, text: str) -> Path:
    (folder / "x").mkdir(parents=True)
    (folder / "x" / "rows.toml").write_text(text)
    return folder


def test_the_output_is_that_of_the_benchmark() -> None:
    assert tree_output(6).decode() == (
        "stretch tree of depth 7\t check: 255\n"
        "64\t trees of depth 4\t check: 1984\n"
        "16\t trees of depth 6\t check: 2032\n"
        "long lived tree of depth 6\t check: 127\n"
    )
    assert tree_output(2) == tree_output(6), "the least depth"
    assert b"\t trees of depth 20\t check: 67108832\n" in tree_output(21)


def test_rows_that_are_here_and_rows_that_are_not(toys: Path) -> None:
    absent, toy = read_trees()
    found = {spec.name: spec for _, spec in subject_specs(toy)}
    assert found["good"].available
    assert found["good"].command == ["python3", f"{toys}/toy/tree.py", "good", "{depth}"]
    assert found["good"].group == "collector"
    assert found["good"].version.startswith("Python 3")
    ((_, missing),) = subject_specs(absent)
    assert not missing.available
    assert missing.reason == ("apt-get install no-such-compiler, then heapwise peers add trees")
    assert absent.packages() == ["no-such-compiler"]
    assert tuning_prefixes() == ["TOY_"]


def test_points_of_a_budget_add_to_their_row(toys: Path) -> None:
    toy = read_trees()[1]
    points = [spec for _, spec in budget_specs(toy)]
    assert [(p.name, p.environment) for p in points] == [
        ("good/lean", {"TOY_COLLECTIONS": "9"}),
        ("good/generous", {"TOY_COLLECTIONS": "1"}),
    ]
    assert points[0].command == ["python3", f"{toys}/toy/tree.py", "good", "{depth}"]


def test_arguments_of_a_point_follow_the_first_word(tmp_path: Path) -> None:
    row = ROW.format("a", "region").replace('["sh"]', '["java", "Main", "{depth}"]')
    points = (
        '[[row.budget]]\nlabel = "small"\narguments = ["-Xmx1m"]\n'
        '[[row.budget]]\nlabel = "other"\ncommand = ["sh", "{depth}"]\n'
    )
    (programs,) = read_trees(declare(tmp_path, f'title = "X"\n{row}{points}'))
    assert [spec.command for _, spec in budget_specs(programs)] == [
        ["java", "-Xmx1m", "Main", "{depth}"],
        ["sh", "{depth}"],
    ]


def test_programs_of_other_sources_are_not_taken_for_these(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import msgspec

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (programs,) = read_trees(
        declare(tmp_path / "trees", f'title = "X"\nbuild = [["sh"]]\n{ROW.format("a", "region")}')
    )
    programs.out.mkdir(parents=True)
    record = TreeRecord("X 1", fingerprint(programs), "now")
    (programs.out / "made.json").write_bytes(msgspec.json.encode(record))
    ((_, spec),) = subject_specs(programs)
    assert (spec.available, spec.version) == (True, "X 1")
    (programs.path / "source.x").write_text("changed")
    ((_, spec),) = subject_specs(programs)
    assert not spec.available
    assert "other sources" in spec.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'title = "X"\nsurprise = 1\n{ROW.format("a", "region")}', "surprise"),
        (f'title = "X"\n{ROW.format("a", "fast")}', "fast"),
        (f'title = "X"\n{ROW.format("a", "region")}{ROW.format("a", "region")}', "two rows 'a'"),
        ('title = "X"\n', "row"),
    ],
)
def test_a_file_that_is_wrong_is_reported(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(Problem, match=words) as caught:
        read_trees(declare(tmp_path, text))
    assert caught.value.id == "E012"


def test_an_experiment_of_programs_has_rows(toys: Path) -> None:
    rows = read_program_experiment(EXPERIMENTS / "binary_trees.toml")
    assert rows.id == "trees/binary_trees"
    assert {spec.name for spec in rows.subjects} == {
        "absent",
        "malloc",
        "good",
        "counts_wrong",
        "crashes",
        "exits",
        "hangs",
    }
    budget = read_program_experiment(EXPERIMENTS / "budget.toml")
    assert [spec.name for spec in budget.subjects] == ["malloc", "good/lean", "good/generous"]


def test_names_of_rows_are_words() -> None:
    rows = [row for programs in read_trees(ROOT / "trees") for row in programs.language.row]
    assert rows
    for row in rows:
        assert re.fullmatch(r"[a-z0-9_]+(@[a-z0-9]+)?", row.name), row.name
        assert len({point.label for point in row.budget}) == len(row.budget), row.name
