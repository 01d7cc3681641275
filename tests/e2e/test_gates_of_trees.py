"""Gates and bisections of programs with plug-ins, libraries, scripts, children and data.

The long tests are 200 gates of unchanged programs, 50 of changed ones and 20 bisections.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gate_trees import BUILD, KINDS, program_of, write_tree
from planted_commits import git

pytestmark = pytest.mark.usefixtures("built_native")

LIMITS = ("--limit", "allocations=0", "--limit", "allocated_bytes=0")
PLACES = ("r", "home/runner/work/a-service-with-a-name/a-service-with-a-name")
UNCHANGED, CHANGED, BISECTIONS = 200, 50, 20


def repository(folder: Path, kind: str, blocks: int = 1000) -> Path:
    write_tree(folder, kind, blocks)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def of_commit(
    heapwise: Any, folder: Path, kind: str, cache: Path, **more: str
) -> list[dict[str, Any]]:
    done = heapwise(
        "gate",
        "--base-commit",
        "HEAD",
        "--build-command",
        BUILD[kind],
        "--new",
        program_of(kind),
        "--measure-identical",
        *LIMITS,
        "--json",
        cwd=folder,
        env={"XDG_CACHE_HOME": str(cache), **more},
    )
    return rows(done)


def of_files(heapwise: Any, old: Path, new: Path, kind: str, cache: Path) -> list[dict[str, Any]]:
    for tree in (old, new):
        subprocess.run(["sh", "-c", BUILD[kind]], cwd=tree, check=True)
    done = heapwise(
        "gate",
        "--base",
        str(old / program_of(kind)),
        "--new",
        str(new / program_of(kind)),
        "--measure-identical",
        *LIMITS,
        "--json",
        env={"XDG_CACHE_HOME": str(cache)},
    )
    return rows(done)


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert "gate" in found, done.stderr
    return list(found["gate"]["rows"])


def unchanged(heapwise: Any, folder: Path, number: int) -> list[dict[str, Any]]:
    """The rows of one gate; kind, place, owner and form of the command depend on the number."""
    kind, place = KINDS[number % len(KINDS)], PLACES[number // len(KINDS) % len(PLACES)]
    form = number // (len(KINDS) * len(PLACES)) % 3
    cache = folder / "cache"
    if form == 0:
        old, new = folder / "b", folder / place / "tree"
        write_tree(old, kind, 1000)
        write_tree(new, kind, 1000)
        return of_files(heapwise, old, new, kind, cache)
    top = repository(folder / place, kind)
    (top / "notes.txt").write_text(f"{number}\n")
    if form == 1 or os.geteuid() != 0:
        return of_commit(heapwise, top, kind, cache)
    for path in (top, *top.rglob("*")):  # root in a container, on a checkout of another user
        os.chown(path, 12345, 12345, follow_symlinks=False)
    config = folder / "config"
    config.write_text("[safe]\n\tdirectory = *\n")
    return of_commit(heapwise, top, kind, cache, GIT_CONFIG_GLOBAL=str(config))


def changed(heapwise: Any, folder: Path, number: int) -> list[dict[str, Any]]:
    """Of a program that makes a few blocks more, which a file beside the program says."""
    kinds = [kind for kind in KINDS if kind != "reader"]
    kind, blocks = kinds[number % len(kinds)], 1001 + number
    if number // len(kinds) % 2:
        top = repository(folder / PLACES[number % 2], kind)
        write_tree(top, kind, blocks)
        return of_commit(heapwise, top, kind, folder / "cache")
    old, new = folder / "old", folder / ("new" if number % 2 else "a-longer-name")
    write_tree(old, kind, 1000)
    write_tree(new, kind, blocks)
    return of_files(heapwise, old, new, kind, folder / "cache")


def test_an_unchanged_program_of_another_user_is_fine(heapwise: Any, tmp_path: Path) -> None:
    """With a library in its tree that the loader finds by an absolute path."""
    number = 2 * len(KINDS) * len(PLACES) + KINDS.index("library")
    for row in unchanged(heapwise, tmp_path, number):
        assert row["verdict"] == "fine", row["sentence"]


def test_a_change_of_a_child_beside_the_program_is_not_fine(heapwise: Any, tmp_path: Path) -> None:
    assert changed(heapwise, tmp_path, 7)[0]["verdict"] == "regressed"


@pytest.mark.long
def test_no_gate_of_an_unchanged_program_fails(heapwise: Any, tmp_path: Path) -> None:
    wrong, untold = [], []
    for number in range(UNCHANGED):
        folder = tmp_path / str(number)
        for row in unchanged(heapwise, folder, number):
            wrong += [(number, row["sentence"])] if row["verdict"] == "regressed" else []
            untold += [(number, row["sentence"])] if row["verdict"] == "cannot tell" else []
        shutil.rmtree(folder)
    print(f"{UNCHANGED} gates: {len(wrong)} regressed, {len(untold)} untold", untold[:5])
    assert wrong == []


@pytest.mark.long
def test_no_gate_of_a_changed_program_is_fine(heapwise: Any, tmp_path: Path) -> None:
    fine, untold = [], []
    for number in range(CHANGED):
        folder = tmp_path / str(number)
        row = changed(heapwise, folder, number)[0]
        fine += [(number, row["sentence"])] if row["verdict"] == "fine" else []
        untold += [(number, row["sentence"])] if row["verdict"] == "cannot tell" else []
        shutil.rmtree(folder)
    print(f"{CHANGED} gates: {len(fine)} fine, {len(untold)} untold", untold[:5])
    assert fine == []


@pytest.mark.long
def test_bisections_find_the_commit_or_say_that_they_cannot(tmp_path: Path) -> None:
    found = []
    for number in range(BISECTIONS):
        folder, chance = tmp_path / str(number), random.Random(number)
        kind = chance.choice([kind for kind in KINDS if kind != "reader"])
        culprit = chance.randrange(1, 6)
        hashes = history(folder / "r", kind, culprit)
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "heapwise",
                "bisect",
                "--quiet",
                "--metric",
                "cpu_time",
                "--build-command",
                BUILD[kind],
                "--good",
                hashes[0],
                "--time",
                "3s",
                "--json",
                "--",
                f"./{program_of(kind)}",
            ],
            cwd=folder / "r",
            env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        document = json.loads(done.stdout)
        if document["found"] is not None:
            assert document["found"] == hashes[culprit], (number, kind, done.stdout)
        else:
            assert done.returncode == 4
            assert hashes[culprit] in document["between"][1:], (number, kind, done.stdout)
        found.append(document["found"] is not None)
        shutil.rmtree(folder)
    print(f"{BISECTIONS} bisections: {sum(found)} found, {len(found) - sum(found)} cannot tell")


def history(folder: Path, kind: str, culprit: int) -> list[str]:
    """Six commits, of which one doubles the work. All change a file that does not matter."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    hashes = []
    for number in range(6):
        blocks = 400_000 if kind == "script" else 3_000_000
        write_tree(folder, kind, blocks * (2 if number >= culprit else 1))
        (folder / "notes.txt").write_text(f"{number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", f"commit {number}")
        hashes.append(git(folder, "rev-parse", "HEAD"))
    return hashes
