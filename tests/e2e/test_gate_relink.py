"""``gate --relink``: builds that are linked again under random layouts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git

from heapwise.errors import Problem
from heapwise.runner import built_commit

pytestmark = pytest.mark.usefixtures("built_native")

MAIN = """#include <stdint.h>
#include <stdio.h>
uint64_t work(uint64_t rounds);
uint64_t rest(uint64_t value);
int main(void) { printf("%llu\\n", (unsigned long long)rest(work(120000000))); }
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
REST = "#include <stdint.h>\nuint64_t rest(uint64_t value) { return value % 1000003; }\n"
HARMLESS = "int unused(int value) { return value * value + 7; }\n"

FLAGS = "-O2 -fno-align-loops"
"""A loop of a few bytes runs at full speed only if it does not cross a line of the cache."""

BUILDS = {
    "cc": f"cc {FLAGS} -o app main.c work.c rest.c",
    "gcc of objects": f"gcc {FLAGS} -c main.c work.c rest.c && gcc -o app main.o work.o rest.o",
    "gold": f"gcc {FLAGS} -fuse-ld=gold -o app main.c work.c rest.c",
    "link-time optimisation": "gcc -O2 -flto -o app main.c work.c rest.c",
    "sections and static": f"gcc {FLAGS} -ffunction-sections -Wl,--gc-sections,-Map=app.map "
    "-static -o app main.c work.c rest.c",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A change in the working tree only moves what is behind it."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for name, text in (("main.c", MAIN), ("work.c", WORK), ("rest.c", REST)):
        (folder / name).write_text(text)
    (folder / ".gitignore").write_text("app*\n*.o\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "work.c").write_text(HARMLESS + WORK)
    return folder


def gate(heapwise: Any, folder: Path, *words: str, build: str = BUILDS["cc"]) -> Any:
    return heapwise(
        "gate",
        *("--base-commit", "main", "--build-command", build, "--new", "app"),
        *words,
        cwd=folder,
        env={"XDG_CACHE_HOME": str(folder.parent / "cache")},
    )


def functions(program: Path) -> dict[str, int]:
    """Function -> its address."""
    listed = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[1] in "Tt"}


@pytest.mark.parametrize("how", BUILDS)
def test_layouts_have_the_same_functions_in_other_places(
    how: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "gold" and shutil.which("ld.gold") is None:
        pytest.skip("there is no gold")
    monkeypatch.chdir(repository)
    monkeypatch.setenv("XDG_CACHE_HOME", str(repository.parent / "cache"))
    with built_commit("main", BUILDS[how], Path("app"), os.environ, 6) as trees:
        built = functions(Path(trees.base.program))
        files = [*trees.base.layouts, *trees.base.control_layouts]
        assert len({*files}) == 12
        assert len(trees.head.layouts) == 6
        shared = {Path(file).read_bytes() for file in files} & {
            Path(file).read_bytes() for file in trees.head.layouts
        }
        assert not shared
        found = [functions(Path(file)) for file in files]
        for each in found:
            assert {*built} <= {*each}
        place = "work" if "work" in built else "main"
        assert len({each[place] % 4096 for each in found}) >= 6
        said = {
            subprocess.run([file], check=True, capture_output=True).stdout
            for file in [trees.base.program, *files]
        }
        assert len(said) == 1
        assert trees.relinked is not None
        assert trees.relinked.moved > 0


def test_a_harmless_change_that_moves_a_loop_does_not_fail(heapwise: Any, repository: Path) -> None:
    words = ("--relink", "6", "--limit", "cpu_time=5%", "--time", "25s", "--json")
    done = gate(heapwise, repository, *words)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)["gate"]
    assert found["verdict"] != "regressed", found
    assert found["layouts"] == 6
    assert "6 of each build, by ld: order of objects, padding" in done.stderr


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        ("printf '#!/bin/sh\\necho 1\\n' > app; chmod +x app", "it is not an ELF file"),
        (f"{BUILDS['cc']} && strip app", "changed the file after the link"),
        ("cp /bin/true app", "called no linker"),
    ],
)
def test_a_program_that_cannot_be_linked_again_is_refused_with_the_reason(
    heapwise: Any, repository: Path, build: str, reason: str
) -> None:
    done = gate(heapwise, repository, "--relink", "6", "--limit", "time=5%", build=build)
    assert done.returncode == 2
    assert "E059" in done.stderr
    assert reason in done.stderr


def test_a_program_of_go_is_refused_with_the_option_that_go_has(
    heapwise: Any, repository: Path
) -> None:
    if shutil.which("go") is None:
        pytest.skip("there is no go")
    (repository / "go.mod").write_text("module example.org/app\n")
    (repository / "main.go").write_text('package main\n\nfunc main() { println("done") }\n')
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    build = "CGO_ENABLED=0 GOFLAGS=-mod=mod go build -o app main.go"
    done = gate(heapwise, repository, "--relink", "6", "--limit", "time=5%", build=build)
    assert done.returncode == 2, done.stderr
    assert "-randlayout" in done.stderr


def test_two_programs_without_sources_cannot_be_linked_again(
    heapwise: Any, repository: Path
) -> None:
    words = ("--relink", "6", "--limit", "time=5%")
    done = heapwise("gate", "--base", "/bin/true", "--new", "/bin/true", *words, cwd=repository)
    assert done.returncode == 2
    assert "two programs and not their sources" in done.stderr
    assert "--base-commit" in done.stderr


def test_a_build_that_fails_is_reported_as_without_layouts(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("XDG_CACHE_HOME", str(repository.parent / "cache"))
    with (
        pytest.raises(Problem, match="build-command failed"),
        built_commit("main", "cc -o app nothing.c", Path("app"), os.environ, 6),
    ):
        pass
