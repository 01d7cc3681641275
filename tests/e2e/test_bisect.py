"""The commit that makes a real program slower is found, by the command as users type it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from planted_commits import git, planted

from heapwise.runner.commits.bisection import LONGER
from heapwise.store import read_run

BUILD = "cc -O1 -o prog main.c"


def bisect(
    repository: Path, *words: str, build: str = BUILD, program: str = "./prog"
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(repository.parent / "cache")}
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "heapwise",
            "bisect",
            "--quiet",
            "--metric",
            "cpu_time",
            "--build-command",
            build,
            *words,
            "--",
            program,
        ],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_planted_commit_is_found_past_one_that_does_not_build(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    hashes = planted(repository, 6, 3, 40, iterations=4_000_000, broken=[4])
    (repository / "main.c").write_text("the user's own change\n")
    done = bisect(repository, "--good", hashes[0], "--time", "60s", "--json")
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert found["found"] == hashes[3]
    assert found["states"][hashes[4]] == "skipped"
    assert 1.2 < found["ratio"]["low"] < found["ratio"]["high"] < 1.6
    assert (repository / "main.c").read_text() == "the user's own change\n"
    assert git(repository, "worktree", "list").count("\n") == 0
    # What is known is not measured again: the same command only confirms.
    again = bisect(repository, "--good", hashes[0], "--time", "60s", "--json")
    assert document(again)["found"] == hashes[3]
    assert len(list((tmp_path / "cache").glob("heapwise/bisect/*/store/runs/*"))) == 3


def test_ends_that_do_not_differ_are_not_told_apart(tmp_path: Path) -> None:
    hashes = planted(tmp_path / "r", 4, 4, 0, iterations=1_000_000)
    done = bisect(tmp_path / "r", "--good", hashes[0], "--time", "1s")
    assert done.returncode == 4, done.stderr
    assert "Cannot tell which of 3 commits it is: the two ends do not differ" in done.stdout
    assert "cpu_time is steadier" not in done.stdout
    alone = ["--metric", "time", "--one-by-one"]
    done = bisect(tmp_path / "r", "--good", hashes[0], "--time", "1s", *alone)
    assert done.returncode == 4, done.stderr
    assert "--metric cpu_time is steadier beside other work" in done.stdout


def counted_commits(folder: Path, blocks: list[int], fails: str = "0") -> list[str]:
    """A repository whose program allocates so often in each commit, and fails if this is not 0."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for number, each in enumerate(blocks):
        (folder / "main.c").write_text(
            "#include <stdlib.h>\n#include <sys/stat.h>\n"
            f"static volatile int revision = {number};\n"
            f"int main(void) {{ for (int b = 0; b < {each}; ++b) free(malloc(64 + revision));\n"
            f"return {fails}; }}\n"
        )
        git(folder, "add", ".")
        git(folder, "commit", "-qm", f"change number {number}")
    return git(folder, "rev-list", "--reverse", "HEAD").split()


def test_a_search_between_other_ends_does_not_accuse_by_what_was_learned(tmp_path: Path) -> None:
    """The change of the first search was taken back, and another one came."""
    hashes = counted_commits(tmp_path / "r", [1000, 1100, 1100, 1000, 1000, 1110])
    words = ("--good", hashes[0], "--metric", "allocations", "--json")
    first = bisect(tmp_path / "r", *words, "--bad", hashes[2])
    assert document(first)["found"] == hashes[1]
    assert document(bisect(tmp_path / "r", *words))["found"] == hashes[5]


def test_a_build_that_failed_is_tried_again_by_the_same_command(tmp_path: Path) -> None:
    hashes = counted_commits(tmp_path / "r", [1000, 1100])
    words = ("--good", hashes[0], "--metric", "allocations", "--json")
    build = f"test -e {tmp_path}/compiler && {BUILD}"
    failed = bisect(tmp_path / "r", *words, build=build)
    assert failed.returncode != 0
    assert "E030" in failed.stderr + failed.stdout
    (tmp_path / "compiler").touch()
    assert document(bisect(tmp_path / "r", *words, build=build))["found"] == hashes[1]


def test_the_trial_of_a_program_has_a_fresh_folder_too(tmp_path: Path) -> None:
    hashes = counted_commits(tmp_path / "r", [1000, 1100], 'mkdir("out", 0700)')
    words = ("--good", hashes[0], "--metric", "allocations", "--fresh-dir", "--json")
    done = bisect(tmp_path / "r", *words)
    assert document(done)["found"] == hashes[1], done.stderr
    assert not (tmp_path / "r" / "out").exists()


def test_a_plan_keeps_what_was_learned(tmp_path: Path) -> None:
    hashes = counted_commits(tmp_path / "r", [1000, 1000, 1100, 1100])
    words = ("--good", hashes[0], "--metric", "allocations")
    assert bisect(tmp_path / "r", *words, "--json").returncode == 0
    [learned] = (tmp_path / "cache").glob("heapwise/bisect/*/learned.json")
    assert bisect(tmp_path / "r", *words, "--fresh", "--dry-run").returncode == 0
    assert learned.exists()


def test_two_ends_alone_are_measured_for_longer_before_they_are_called_alike(
    tmp_path: Path,
) -> None:
    hashes = planted(tmp_path / "r", 2, 2, 0, iterations=1_000_000)
    done = bisect(tmp_path / "r", "--good", hashes[0], "--time", "1s")
    assert done.returncode == 4, done.stderr
    [run] = (tmp_path / "cache").glob("heapwise/bisect/*/store/runs/*")
    assert read_run(run.parents[1], run.name).run.plan.time_s == LONGER


def test_commits_with_the_same_files_need_no_measurement_but_both_ends_do(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    hashes = planted(repository, 2, 1, 400, iterations=4_000_000)
    for number in range(5):
        git(repository, "commit", "-qm", f"nothing {number}", "--allow-empty")
    by_cpu = ("--metric", "cpu_time")  # other tests may run beside this one
    done = bisect(repository, "--good", hashes[0], "--time", "60s", *by_cpu, "--json")
    assert document(done)["found"] == hashes[1], done.stdout
    # The ends, and the commit against its parent.
    assert len(list((tmp_path / "cache").glob("heapwise/bisect/*/store/runs/*"))) == 2


def test_ends_with_the_same_files_are_not_measured_and_nothing_is_accused(tmp_path: Path) -> None:
    hashes = planted(tmp_path / "r", 1, 0, 0, iterations=1_000)
    git(tmp_path / "r", "commit", "-qm", "nothing", "--allow-empty")
    done = bisect(tmp_path / "r", "--good", hashes[0])
    assert done.returncode == 4, done.stderr
    assert "all files of the two ends are equal" in done.stdout


HOST = """
#include <dlfcn.h>
int main(void) {
  void *library = dlopen("$ORIGIN/work.so", RTLD_NOW);
  void (*work)(void) = library ? (void (*)(void))dlsym(library, "work") : 0;
  if (!work) return 1;
  work();
  return 0;
}
"""
PLUGIN = "void work(void) {{ for (volatile long i = 0; i < {work}; ++i) {{ }} }}\n"
SCRIPT = "#!/usr/bin/python3\nimport work\nwork.work()\n"


@pytest.mark.parametrize("kind", ["plug-in", pytest.param("script", marks=pytest.mark.long)])
def test_a_change_beside_the_program_is_found_and_no_innocent_commit_accused(
    tmp_path: Path, kind: str
) -> None:
    """The file of the program is the same in all commits."""
    repository = tmp_path / "r"
    repository.mkdir()
    git(repository, "init", "-q")
    hashes = []
    for number in range(4):
        work = 40_000_000 if number >= 1 else 20_000_000
        (repository / "app.c").write_text(HOST)
        (repository / "app.py").write_text(SCRIPT)
        (repository / "app.py").chmod(0o755)
        (repository / "work.c").write_text(PLUGIN.format(work=work))
        (repository / "work.py").write_text(
            f"def work():\n    for _ in range({work // 10}):\n        pass\n"
        )
        (repository / "notes.txt").write_text(f"{number}\n")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", f"commit {number}")
        hashes.append(git(repository, "rev-parse", "HEAD"))
    build = (
        "cc -O1 -shared -fPIC -o work.so work.c && cc -o app app.c" if kind == "plug-in" else "true"
    )
    done = bisect(
        repository,
        "--good",
        hashes[0],
        "--time",
        "2s",
        "--json",
        build=build,
        program="./app" if kind == "plug-in" else "./app.py",
    )
    found = document(done)
    assert found["found"] in (hashes[1], None), done.stdout
    if found["found"] is None:  # the machine was too busy: the range must hold the culprit
        assert hashes[1] in found["between"][1:]
    else:
        assert found["ratio"]["low"] > 1


def test_a_good_end_that_does_not_build_is_an_error(tmp_path: Path) -> None:
    hashes = planted(tmp_path / "r", 3, 2, 40, iterations=1000, broken=[0])
    done = bisect(tmp_path / "r", "--good", hashes[0])
    assert done.returncode == 3
    assert "cannot be built" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--good", "nothing"], "'nothing' is not a commit"),
        (["--good", "HEAD", "--bad", "HEAD~1"], "no line of first parents"),
        (["--good", "HEAD"], "no line of first parents"),
        (["--good", "--upload-pack=x"], "is not a commit"),
        (["--good", "HEAD~1", "--metric", "speed"], "there is no such metric"),
        (["--good", "HEAD~1", "--metric", "side_by_side"], "there is no such metric"),
        (["--good", "HEAD~1", "--metric", "cpu-time"], "did you mean cpu_time?"),
        (["--good", "HAED~1"], "did you mean HEAD?"),
    ],
)
def test_bad_usage(tmp_path: Path, words: list[str], said: str) -> None:
    planted(tmp_path / "r", 2, 1, 40, iterations=1000)
    done = bisect(tmp_path / "r", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_a_program_with_its_whole_path_is_that_of_each_commit(tmp_path: Path) -> None:
    """The user's own build of it is not."""
    repository = tmp_path / "r"
    hashes = planted(repository, 2, 1, 400, iterations=4_000_000)
    subprocess.run(["sh", "-c", BUILD], cwd=repository, check=True)
    done = bisect(
        repository, "--good", hashes[0], "--time", "30s", "--json", program=str(repository / "prog")
    )
    assert document(done)["found"] == hashes[1]


def test_a_program_that_is_not_in_the_tree_is_bad_usage(tmp_path: Path) -> None:
    planted(tmp_path / "r", 2, 1, 40, iterations=1000)
    done = bisect(tmp_path / "r", "--good", "HEAD~1", program="/bin/true")
    assert done.returncode == 2
    assert "is not in the working tree" in " ".join(done.stderr.split())


def test_outside_of_a_repository(tmp_path: Path) -> None:
    done = bisect(tmp_path, "--good", "HEAD")
    assert done.returncode == 2
    assert "no git repository" in " ".join(done.stderr.split())


@pytest.mark.skipif(os.environ.get("HEAPWISE_TIER") != "long", reason="ten minutes: make test-long")
@pytest.mark.parametrize("culprit", [1, 3, 8, 11, 14, 17, 20, 23, 27, 29])
def test_a_slow_down_of_5_percent_is_found_among_30_commits(tmp_path: Path, culprit: int) -> None:
    hashes = planted(tmp_path / "r", 30, culprit, 5, iterations=20_000_000, broken=[9, 24])
    done = bisect(tmp_path / "r", "--good", hashes[0], "--time", "60s", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    assert document(done)["found"] == hashes[culprit]


MAKE, STATIC = "make main CFLAGS=-O1 && mv main prog", "cc -static -o prog main.c"

COUNTED = """\
#include <stdio.h>
#include <stdlib.h>
static volatile const char revision[] = "{revision}";
int main(void) {{
  for (int block = 0; block < {blocks}; ++block) free(malloc(64 + (size_t)(revision[0] == 'x')));
  puts("done");
  return 0;
}}
"""


def counted(folder: Path, blocks: list[int]) -> list[str]:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for number, count in enumerate(blocks):
        text = COUNTED.format(revision=f"r{number}", blocks=count)
        (folder / "main.c").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-qm", f"change number {number}")
    return git(folder, "rev-list", "--reverse", "HEAD").split()


@pytest.mark.parametrize("metric", ["allocations", "allocated_bytes", "instructions"])
def test_one_allocation_more_is_found_by_counting(tmp_path: Path, metric: str) -> None:
    blocks = [1000, 1000, 1000, 1001, 1001] if metric != "instructions" else [10, 10, 10, 900, 900]
    hashes = counted(tmp_path / "r", blocks)
    done = bisect(tmp_path / "r", "--good", hashes[0], "--metric", metric, "--json", build=MAKE)
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert found["found"] == hashes[3]
    before, after = found["counts"]
    if metric == "allocations":
        assert after - before == 1
    assert found["ratio"] is None


def test_equal_counts_find_nothing(tmp_path: Path) -> None:
    hashes = counted(tmp_path / "r", [50, 50, 50])
    done = bisect(tmp_path / "r", "--good", hashes[0], "--metric", "allocations", build=MAKE)
    assert done.returncode == 4, done.stderr
    assert "do not differ" in done.stdout
    assert "--time" not in done.stdout


def test_a_program_whose_calls_cannot_be_counted_is_reported(tmp_path: Path) -> None:
    hashes = counted(tmp_path / "r", [50, 51])
    done = bisect(tmp_path / "r", "--good", hashes[0], "--metric", "allocations", build=STATIC)
    assert done.returncode == 3, done.stderr
    assert "cannot be counted" in " ".join(done.stderr.split())
