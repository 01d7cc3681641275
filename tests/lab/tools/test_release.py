"""The version stands in several files: they are changed together, and compared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import release

ROOT = Path(__file__).resolve().parents[3]
FILES = (
    "CMakeLists.txt",
    "pyproject.toml",
    "packaging/rust/Cargo.toml",
    "python/heapwise/__init__.py",
    "CHANGELOG.md",
    "docs/how-to/install.md",
    "docs/design/pools.md",
    "tests/install/consumer/CMakeLists.txt",
    "include/heapwise/pool.hpp",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_this_tree_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", FILES)
def test_a_place_that_was_forgotten_is_named(
    tree: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old = (tree / name).read_text()
    assert release.main(["7.8.9"], tree) == 0
    assert release.main(["--check"], tree) == 0
    (tree / name).write_text(old if name != "CHANGELOG.md" else "# Changelog\n")
    capsys.readouterr()
    assert release.main(["--check"], tree) == 1
    assert name in capsys.readouterr().out


def test_a_trial_prints_the_changes_and_makes_none(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {name: (tree / name).read_text() for name in FILES}
    assert release.main(["--dry-run", "7.8.9"], tree) == 0
    shown = capsys.readouterr().out
    assert '+version = "7.8.9"' in shown
    assert "+## 7.8.9, " in shown
    assert "inline v7_8" in shown
    assert {name: (tree / name).read_text() for name in FILES} == before


@pytest.mark.parametrize("words", [[], ["7.8"], ["--check", "7.8.9"], ["v7.8.9"]])
def test_other_words_change_nothing(words: list[str], tree: Path) -> None:
    assert release.main(words, tree) == 2
