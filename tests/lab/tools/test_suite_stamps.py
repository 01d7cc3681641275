"""A part is left out only if it passed with the same inputs when it last ran."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from suite.part import Part, run_part
from suite.stamps import Stamps, files_of, run_changed
from suite.tally import Tally

PASSED = Tally(passed=1)
UNCHANGED = Tally(passed=1, unchanged=1)
FAILED = Tally(failures=("it: exit status 1",))


class Tree:
    """A tree with one source, and a part that fails if the source says so and counts its runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source = root / "source"
        self.source.write_text("good")
        (root / "docs").mkdir()
        (root / "docs" / "page").write_text("old")
        self.results = root / "build" / "test"
        self.results.mkdir(parents=True)
        self.part = Part("it", [sys.executable, "-c", "ignored"], unrelated=("docs",))
        self.runs = 0

    def run(self, part: Part | None = None, *, anyway: bool = False) -> Tally:
        def command(part: Part) -> Tally:
            self.runs += 1
            return FAILED if self.source.read_text() == "bad" else PASSED

        stamps = Stamps(self.results)
        return run_changed(part or self.part, self.root, stamps, command, anyway=anyway)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_nothing_has_changed(tree: Tree) -> None:
    assert tree.run() == PASSED
    assert tree.run() == UNCHANGED
    assert tree.run() == UNCHANGED
    assert tree.runs == 1


def test_the_last_line_says_how_many_were_not_run_again(tree: Tree) -> None:
    line = (tree.run() + tree.run()).closing_line()
    assert line == "2 passed, 0 failed (1 unchanged since they passed)"


@pytest.mark.parametrize("name", ["source", "new", "tests/new"])
def test_a_file_of_the_tree_has_changed(tree: Tree, name: str) -> None:
    tree.run()
    (tree.root / "tests").mkdir()
    (tree.root / name).write_text("other")
    assert tree.run() == PASSED


def test_a_file_is_gone(tree: Tree) -> None:
    (tree.root / "other").write_text("")
    tree.run()
    (tree.root / "other").unlink()
    assert tree.run() == PASSED


def test_a_file_may_be_executed_now(tree: Tree) -> None:
    tree.run()
    tree.source.chmod(0o755)
    assert tree.run() == PASSED


def test_an_unrelated_file_has_changed(tree: Tree) -> None:
    tree.run()
    (tree.root / "docs" / "page").write_text("new")
    assert tree.run() == UNCHANGED
    (tree.root / "docs.txt").write_text("no file of that folder")
    assert tree.run() == PASSED


def test_an_option_of_a_sanitizer_has_changed(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.run()
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    assert tree.run() == PASSED


def test_the_command_has_changed(tree: Tree) -> None:
    tree.run()
    assert tree.run(Part("it", ["other"], unrelated=("docs",))) == PASSED


def test_a_failure_is_tried_again(tree: Tree) -> None:
    tree.source.write_text("bad")
    assert tree.run() == FAILED
    assert tree.run() == FAILED
    assert tree.runs == 2


def test_a_failure_is_not_covered_by_an_earlier_pass(tree: Tree) -> None:
    """Good, bad, good: the last state passed before, but not when it last ran."""
    tree.run()
    tree.source.write_text("bad")
    tree.run()
    tree.source.write_text("good")
    assert tree.run() == PASSED


def test_a_change_during_the_run_leaves_no_stamp(tree: Tree) -> None:
    def command(part: Part) -> Tally:
        tree.source.write_text("changed meanwhile")
        return PASSED

    stamps = Stamps(tree.results)
    run_changed(tree.part, tree.root, stamps, command, anyway=False)
    assert tree.run() == PASSED


def test_everything_runs_if_it_is_asked_for(tree: Tree) -> None:
    tree.run()
    assert tree.run(anyway=True) == PASSED


def test_a_part_that_prepares_for_others_always_runs(tree: Tree) -> None:
    part = Part("build", ["cmake"], prepares=True)
    assert [tree.run(part), tree.run(part)] == [PASSED, PASSED]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"inputs": 1}'])
def test_a_broken_stamp_does_not_count(tree: Tree, content: str) -> None:
    tree.run()
    (tree.results / "it.passed").write_text(content)
    assert tree.run() == PASSED


def test_files_made_from_the_tree_are_not_part_of_it(tree: Tree) -> None:
    for folder in (".venv", "tests/__pycache__", ".mypy_cache", "tests/build"):
        (tree.root / folder).mkdir(parents=True)
        (tree.root / folder / "file").write_text("")
    assert list(files_of(tree.root)) == ["source", "docs/page", "tests/build/file"]


def test_a_real_part(tree: Tree) -> None:
    part = Part("real", [sys.executable, "-c", ""])
    stamps = Stamps(tree.results)

    def run() -> Tally:
        return run_changed(
            part, tree.root, stamps, lambda part: run_part(part, tree.results), anyway=False
        )

    assert run() == PASSED
    assert run() == UNCHANGED
