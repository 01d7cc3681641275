"""Exact counts of a gate do not depend on where the two builds lie."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git

pytestmark = pytest.mark.usefixtures("built_native")

SOURCE = Path(__file__).resolve().parents[1] / "data" / "path_reader.c"
SCRIPT = """#!/usr/bin/python3
import json, os
print(len(os.path.abspath(__file__)) > 0)
"""
LIMITS = ("--limit", "allocations=0", "--limit", "allocated_bytes=0")


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A repository that is deeper than the folder in which a base is built."""
    folder = tmp_path / "home/runner/work/a-service-with-a-name/a-service-with-a-name"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "-b", "main")
    (folder / ".gitignore").write_text("app\n")
    shutil.copy(SOURCE, folder / "main.c")
    (folder / "tool.py").write_text(SCRIPT)
    (folder / "tool.py").chmod(0o755)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def rows(heapwise: Any, folder: Path, program: str, command: str) -> list[dict[str, Any]]:
    done = heapwise(
        "gate",
        "--base-commit",
        "HEAD",
        "--build-command",
        command,
        "--new",
        program,
        *LIMITS,
        "--json",
        cwd=folder,
        env={"XDG_CACHE_HOME": str(folder.parents[5] / "cache")},
    )
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["gate"]["rows"]
    return found


@pytest.mark.parametrize(
    ("program", "command"), [("app", "cc -O1 -o app main.c"), ("tool.py", "true")]
)
def test_an_unchanged_program_of_a_commit_that_reads_its_path_is_fine(
    heapwise: Any, deep: Path, program: str, command: str
) -> None:
    (deep / "notes.txt").write_text("something changed, but not the program\n")
    for row in rows(heapwise, deep, program, command):
        assert (row["verdict"], row["new"] - row["base"]) == ("fine", 0), row["sentence"]


def test_one_allocation_more_is_not_hidden_by_the_depth_of_the_base(
    heapwise: Any, deep: Path
) -> None:
    source = (deep / "main.c").read_text()
    (deep / "main.c").write_text(source.replace("#define EXTRA 0", "#define EXTRA 1"))
    first = rows(heapwise, deep, "app", "cc -O1 -o app main.c")[0]
    assert (first["verdict"], first["new"] - first["base"]) == ("regressed", 1)
    assert not (deep / "app").exists()  # the user's tree is left alone


@pytest.mark.parametrize(
    ("old", "new"),
    [("b/app", "new-build/deeper/app"), ("one", "another-one"), ("old/app", "new/app")],
)
def test_two_files_that_read_their_path_differ_in_what_was_changed_alone(
    heapwise: Any, tmp_path: Path, old: str, new: str
) -> None:
    for name, extra in ((old, 0), (new, 1)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["cc", "-O1", f"-DEXTRA={extra}", "-o", name, str(SOURCE)], cwd=tmp_path, check=True
        )
    done = heapwise("gate", "--base", old, "--new", new, *LIMITS, "--json")
    first = json.loads(done.stdout)["gate"]["rows"][0]
    assert (first["verdict"], first["exact"]) == ("regressed", True), first["sentence"]
    assert first["new"] - first["base"] == 1


def test_counts_at_paths_of_unequal_length_are_not_called_exact(
    heapwise: Any, tmp_path: Path
) -> None:
    """The clones would lie in the folder that is cloned."""
    for name in ("one", "another"):
        subprocess.run(["cc", "-O1", "-o", name, str(SOURCE)], cwd=tmp_path, check=True)
    done = heapwise(
        "gate",
        "--base",
        "one",
        "--new",
        "another",
        *LIMITS,
        "--json",
        "--strict",
        env={"XDG_CACHE_HOME": str(tmp_path)},
    )
    assert done.returncode == 4, done.stderr
    for row in json.loads(done.stdout)["gate"]["rows"]:
        assert (row["verdict"], row["exact"]) == ("cannot tell", False)
        assert "paths of equal length" in row["sentence"]


def test_counts_that_depend_on_the_letters_of_a_path_are_those_of_one_path(
    heapwise: Any, tmp_path: Path
) -> None:
    """Of equal length and depth: "old" and "new" have other sums of their letters."""
    source = tmp_path / "sum.c"
    source.write_text(
        "#include <stdlib.h>\n"
        "int main(int argc, char** argv) {\n"
        "  unsigned sum = 0;\n"
        "  for (char* at = argv[0]; *at; ++at) sum += (unsigned char)*at;\n"
        "  for (unsigned i = 0; i < sum + 10 * EXTRA; ++i) free(malloc(20));\n"
        "}\n"
    )
    for name, extra in (("old", 0), ("new", 1)):
        (tmp_path / name).mkdir()
        program = str(tmp_path / name / "app")
        subprocess.run(["cc", "-O0", f"-DEXTRA={extra}", "-o", program, str(source)], check=True)
    words = ("--limit", "allocations=0", "--json")
    done = heapwise("gate", "--base", "old/app", "--new", "new/app", *words)
    row = json.loads(done.stdout)["gate"]["rows"][0]
    assert (row["new"] - row["base"], row["exact"]) == (10, True), row["sentence"]
