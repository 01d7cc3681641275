"""``bisect --relink``: a commit that only moves what it does not change is not the one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git

pytestmark = pytest.mark.usefixtures("built_native")

MAIN = """#include <stdint.h>
#include <stdio.h>
uint64_t work(uint64_t rounds);
int main(void) { printf("%llu\\n", (unsigned long long)(work(ROUNDS) % 1000003)); }
"""
WORK = """#include <stdint.h>
uint64_t work(uint64_t rounds) {
  uint64_t sum = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    __asm__ volatile("" : "+r"(sum));
    sum += round;
  }
  return sum;
}
"""
LOOPS = ("-falign-loops=64", "-fno-align-loops")
REST = "int rest(int value) { return value + 1; }\n"
HARMLESS = "int unused(int value) { return value * value + 7; }\n"
ALIGNED, LOOSE = (f"cc -O2 {flag} -o app main.c work.c rest.c" for flag in LOOPS)
"""A loop of a few bytes takes up to twice as long if it crosses a line of the cache."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The second commit moves the loop, and the third one makes it twice as long."""
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / ".gitignore").write_text("app\n")
    (folder / "rest.c").write_text(REST)
    git(folder, "init", "-q", "-b", "main")
    for name, text in (
        ("begin", WORK),
        ("move the loop", HARMLESS + WORK),
        ("loop twice", HARMLESS + WORK),
        ("document", HARMLESS + WORK + "/* done */\n"),
    ):
        rounds = 30_000_000 if name in ("begin", "move the loop") else 60_000_000
        (folder / "main.c").write_text(MAIN.replace("ROUNDS", str(rounds)))
        (folder / "work.c").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-qm", name)
    return folder


def bisect(heapwise: Any, folder: Path, *words: str, build: str = ALIGNED) -> Any:
    return heapwise(
        *("bisect", "--good", "main~3", "--build-command", build, *words, "--", "./app"),
        cwd=folder,
        env={"XDG_CACHE_HOME": str(folder.parent / "cache")},
    )


def test_the_commit_is_found_over_layouts(heapwise: Any, repository: Path) -> None:
    words = ("--relink", "6", "--metric", "cpu_time", "--time", "15s", "--json", "--keep")
    done = bisect(heapwise, repository, *words)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert (found["found"], found["layouts"]) == (git(repository, "rev-parse", "main~1"), 6)
    assert "Layouts  6 of each commit" in done.stderr
    [folder] = (repository.parent / "cache" / "heapwise" / "bisect").iterdir()
    for commit in (found["found"], git(repository, "rev-parse", "main~3")):
        [links] = (folder / f"{commit}.links" / "links").iterdir()
        layouts = {path.read_bytes() for path in links.iterdir() if path.name.isdigit()}
        assert len(layouts) == 12
    for file in (folder / "store" / "runs").glob("*/run.json"):
        places = json.loads(file.read_text())["plan"]["options"]["places"]
        assert all(len(place["layouts"]) == 6 for place in places.values())
        assert len(places) > 1


def test_a_change_of_the_layout_alone_has_no_commit(heapwise: Any, repository: Path) -> None:
    words = ("--bad", "main~2", "--relink", "6", "--metric", "cpu_time", "--time", "5s")
    done = bisect(heapwise, repository, *words, build=LOOSE)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "do not differ by more than the noise" in done.stdout
    assert "--relink 12" in done.stdout


def test_counts_have_no_layouts(heapwise: Any, repository: Path) -> None:
    done = bisect(heapwise, repository, "--relink", "6", "--metric", "allocations")
    assert done.returncode == 2
    assert "--relink is for what is timed" in " ".join(done.stderr.split())


def test_a_script_cannot_be_linked_again(heapwise: Any, repository: Path) -> None:
    build = "printf '#!/bin/sh\\necho 1\\n' > app; chmod +x app"
    done = bisect(heapwise, repository, "--relink", "6", build=build)
    assert done.returncode == 2
    assert "E059" in done.stderr
