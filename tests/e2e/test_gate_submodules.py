"""The base of a gate in a repository with submodules: each side is built with its own commits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git

pytestmark = pytest.mark.usefixtures("built_native")

APP = '#include "lib/inner/count.h"\nint main(void) { work(); return 0; }\n'
WORK = """\
#include <stdlib.h>
static void work(void) {
  for (int k = 0; k < BLOCKS; ++k) { void* volatile block = malloc(64); free(block); }
}
"""


def commit_all(folder: Path, message: str) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", message)


def begin(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """app.c includes a file of a submodule in a submodule, which makes 100 blocks in the first
    commit and 103 in the second."""
    inner, lib, app = (begin(tmp_path / name) for name in ("inner", "lib", "app"))
    (inner / "count.h").write_text(WORK.replace("BLOCKS", "100"))
    commit_all(inner, "begin")
    git(lib, "submodule", "--quiet", "add", str(inner), "inner")
    commit_all(lib, "begin")
    git(app, "submodule", "--quiet", "add", str(lib), "lib")
    (app / "app.c").write_text(APP)
    (app / ".gitignore").write_text("app\n")
    commit_all(app, "begin")
    git(app, "submodule", "--quiet", "update", "--init", "--recursive")
    (app / "lib" / "inner" / "count.h").write_text(WORK.replace("BLOCKS", "103"))
    for place in (app / "lib" / "inner", app / "lib", app):
        commit_all(place, "3 more")
    return app


def gate(heapwise: Any, folder: Path, revision: str = "HEAD~1") -> tuple[int, list[dict[str, Any]]]:
    code, found = whole_gate(heapwise, folder, revision)
    return code, found["rows"]


def whole_gate(
    heapwise: Any, folder: Path, revision: str = "HEAD~1", flags: str = ""
) -> tuple[int, dict[str, Any]]:
    done = heapwise(
        *("gate", "--base-commit", revision, "--build-command", f"cc -O1 {flags} -o app app.c"),
        *("--new", "./app", "--limit", "allocations=0", "--time", "20s", "--json"),
        cwd=folder,
        env={"XDG_CACHE_HOME": str(folder.parent / "cache")},
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)["gate"]


def test_each_side_has_the_submodules_of_its_commit(heapwise: Any, repository: Path) -> None:
    code, [row] = gate(heapwise, repository)
    assert (code, row["new"] - row["base"]) == (1, 3)
    for place in (repository, repository / "lib", repository / "lib" / "inner"):
        assert len(git(place, "worktree", "list").splitlines()) == 1, "nothing is left"


def test_the_call_site_in_a_submodule_is_named_by_its_path(heapwise: Any, repository: Path) -> None:
    _, found = whole_gate(heapwise, repository, flags="-g")
    [site] = found["grown"]["sites"]
    assert (site["blocks"], site["file"], site["line"]) == (3, "lib/inner/count.h", 3)


@pytest.mark.parametrize("way", ["moved", "removed"])
def test_a_base_has_the_submodule_that_moved_or_went_since(
    heapwise: Any, repository: Path, way: str
) -> None:
    if way == "moved":
        git(repository, "mv", "lib", "library")
        (repository / "app.c").write_text(APP.replace("lib/", "library/"))
    else:
        git(repository, "rm", "--quiet", "lib")
        (repository / "app.c").write_text(WORK.replace("BLOCKS", "103") + APP.partition("\n")[2])
    commit_all(repository, way)
    code, [row] = gate(heapwise, repository, "HEAD~2")
    assert (code, row["new"] - row["base"]) == (1, 3)
    assert "(detached HEAD)" not in git(kept(repository), "--work-tree=.", "worktree", "list")


def kept(repository: Path) -> Path:
    """Where git keeps the repository of the submodule."""
    return repository / ".git" / "modules" / "lib"


def test_a_change_in_a_submodule_that_is_not_committed_is_built(
    heapwise: Any, repository: Path
) -> None:
    (repository / "lib" / "inner" / "count.h").write_text(WORK.replace("BLOCKS", "107"))
    code, [row] = gate(heapwise, repository)
    assert (code, row["new"] - row["base"]) == (1, 7)


def test_submodules_that_are_not_here_are_named_as_the_cause(
    heapwise: Any, repository: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repository), str(clone))
    done = heapwise(
        *("gate", "--base-commit", "HEAD", "--build-command", "cc -O1 -o app app.c"),
        *("--new", "./app", "--limit", "allocations=0"),
        cwd=clone,
        env={"XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 3
    assert "git submodule update --init --recursive" in done.stderr
