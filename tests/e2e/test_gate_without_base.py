"""A gate whose base does not exist yet, or was never buildable, passes only if it was told to."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git

pytestmark = pytest.mark.usefixtures("built_native")

NO_FILE = "test -f app.c && cc -o app app.c"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The first commit has no program; the second one has."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    (folder / ".gitignore").write_text("app\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "begin")
    (folder / "app.c").write_text("int main(void) { return 0; }\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "a program")
    subprocess.run(["cc", "-o", "app", "app.c"], cwd=folder, check=True)
    return folder


def gate(heapwise: Any, folder: Path, base: str, *more: str, build: str = NO_FILE) -> Any:
    return heapwise(
        *("gate", "--base-commit", base, "--build-command", build, "--new", "./app"),
        *("--limit", "allocations=0", *more),
        cwd=folder,
    )


@pytest.mark.parametrize(("base", "code"), [("HEAD~1", 3), ("HEAD~2", 2), ("HEAD^^", 2)])
def test_a_base_that_cannot_be_is_passed_over_if_that_is_asked_for(
    heapwise: Any, repository: Path, base: str, code: int
) -> None:
    assert gate(heapwise, repository, base).returncode == code
    done = gate(heapwise, repository, base, "--pass-without-base")
    assert done.returncode == 0, done.stderr
    assert "no base: nothing was compared" in done.stdout


def test_a_mistake_is_never_passed_over(heapwise: Any, repository: Path, tmp_path: Path) -> None:
    """A misspelt name, a new build that fails, and a shallow clone."""
    passing = "--pass-without-base"
    assert gate(heapwise, repository, "mian", passing).returncode == 2
    assert gate(heapwise, repository, "HEAD~1", passing, build="false").returncode == 3
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repository}", str(shallow))
    subprocess.run(["cc", "-o", "app", "app.c"], cwd=shallow, check=True)
    assert gate(heapwise, shallow, "HEAD~1", passing).returncode == 2


def test_json_says_that_there_was_no_base(heapwise: Any, repository: Path) -> None:
    done = gate(heapwise, repository, "HEAD~2", "--pass-without-base", "--json")
    found = json.loads(done.stdout)
    assert found["gate"] is None
    assert "before the first commit" in found["no_base"]
