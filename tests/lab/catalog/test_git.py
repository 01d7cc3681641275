"""Which commit is measured, of whose repository; never a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heapwise.catalog import git, refuses, repository_of, revision_of


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = tmp_path / "project"
    (folder / "build").mkdir(parents=True)
    (folder / "main.c").write_text("1\n")
    for words in (["init", "-q"], ["add", "main.c"], ["commit", "-qm", "first"]):
        subprocess.run(
            ["git", "-c", "user.name=N", "-c", "user.email=e@e", *words],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=60,
            env={**os.environ, "GIT_COMMITTER_DATE": "2026-02-03T04:05:06+01:00"},
        )
    return folder


def test_the_commit_of_the_first_folder_that_has_one(repository: Path, tmp_path: Path) -> None:
    found = revision_of([tmp_path, repository / "build"])
    assert found is not None
    assert found.commit == git(repository, "rev-parse", "HEAD")
    assert (found.committed, found.dirty) == ("2026-02-03T04:05:06+01:00", False)
    assert repository_of(repository / "build") == repository


def test_changed_sources_are_dirty_and_new_files_are_not(repository: Path) -> None:
    (repository / "result.json").write_text("new\n")
    assert not revision_of([repository]).dirty  # type: ignore[union-attr]
    (repository / "main.c").write_text("2\n")
    assert revision_of([repository]).dirty  # type: ignore[union-attr]


def test_without_a_repository_a_commit_or_git_there_is_no_answer(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True, timeout=60)
    assert revision_of([tmp_path, tmp_path / "empty"]) is None
    assert revision_of([]) is None
    (tmp_path / "false").mkdir()
    (tmp_path / "false" / ".git").write_text("no repository\n")
    assert revision_of([tmp_path / "false"]) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision_of([repository]) is None


def test_variables_of_a_hook_do_not_name_another_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert revision_of([repository]) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_not_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    assert revision_of([repository]) is None
    monkeypatch.setenv("SUDO_UID", "12345")
    assert revision_of([repository]) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_that_safe_directory_allows_is_read(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container, where root works on the checkout of the runner's user."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    assert refuses(repository / "build")
    (tmp_path / "config").write_text("[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert repository_of(repository / "build") == repository
    assert not refuses(repository / "build")
    assert not refuses(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_old_git_does_not_look_at_the_owner_so_it_is_looked_at_here(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    (tmp_path / "config").write_text("[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    os.chown(repository / ".git", 12345, 12345)
    monkeypatch.setattr(sys.modules["heapwise.catalog.git"], "version", lambda: (2, 30, 2))
    assert revision_of([repository]) is None
