"""A page of results is stale if its experiment, or what that measures, changed after its run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stale_pages import stale_pages, told

DAYS = ("2026-01-01", "2026-01-03", "2026-01-05")


def commit(root: Path, day: str, subject: str, **files: str) -> None:
    """Files by their paths, with __ for a slash and no suffix for .cpp."""
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.cpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    stamp = f"{day}T12:00:00+0000"
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(root),
        "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_DATE": stamp,
    }
    settings = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("add", "-A"), (*settings, "commit", "-qm", subject)):
        subprocess.run(["git", *words], cwd=root, env=environment, check=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three commits: the beginning, a change of src/pool, and one of another experiment."""
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    commit(tmp_path, DAYS[0], "begin", experiments__pool__bulk="1", experiments__cpu__ilp="1")
    commit(tmp_path, DAYS[1], "pool: change", src__pool__slab="2")
    commit(tmp_path, DAYS[2], "cpu: change", experiments__cpu__ilp="2")
    return tmp_path


def page(root: Path, name: str, text: str) -> None:
    path = root / "docs" / "results" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "day", "stale"),
    [
        ("pool/bulk.md", "2026-01-02", ["pool: change"]),
        ("pool/bulk.md", "2026-01-04", []),
        ("cpu/ilp.md", "2026-01-04", ["cpu: change"]),
        ("report.md", "2026-01-02", ["cpu: change", "pool: change"]),
        ("report.md", "2026-01-06", []),
    ],
)
def test_a_page_is_stale_after_a_change_of_what_it_shows(
    root: Path, name: str, day: str, stale: list[str]
) -> None:
    page(root, name, f"It has pool/bulk and cpu/ilp.\n\nRun 7f3a of {day}, Heapwise 0.1.0.\n")
    found = list(stale_pages(root))
    assert [change.partition(" ")[2] for each in found for change in each.changes] == stale
    assert [each.page for each in found] == ([f"docs/results/{name}"] if stale else [])


def test_the_commit_that_a_page_names_goes_before_its_day(root: Path) -> None:
    for revision, count in (("HEAD", 0), ("HEAD~2", 1)):
        done = subprocess.run(
            ["git", "rev-parse", revision], cwd=root, capture_output=True, text=True, check=True
        )
        line = f"Run 7f3a of 2026-01-04, x. Commit {done.stdout[:12]} of 2026-01-01."
        page(root, "pool/bulk.md", line)
        assert len(list(stale_pages(root))) == count
    page(root, "pool/bulk.md", "Run 7f3a of 2026-01-02, x. Commit 0123456789ab of 2026-01-01.")
    assert len(list(stale_pages(root))) == 1, "git does not know the commit, and the day decides"


def test_the_list_is_written_and_begun_on_the_terminal(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "list"
    assert told(root, file) == []
    for number in range(7):
        page(root, f"{number}/pool/bulk.md", "Run 7f3a of 2026-01-02, Heapwise 0.1.0.\n")
    lines = told(root, file)
    assert lines[0].startswith("Stale pages: 7, ")
    assert len(lines) == 6
    assert len(file.read_text().splitlines()) == 7
    assert "0/pool/bulk.md: 1 commit since " in lines[1]


def test_without_a_history_nothing_is_listed(tmp_path: Path) -> None:
    page(tmp_path, "pool/bulk.md", "Run 7f3a of 2026-01-02, Heapwise 0.1.0.\n")
    assert list(stale_pages(tmp_path)) == []
