"""``gate --baseline FILE``: exact counts of one build against those of a file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  for (int block = 0; block < BLOCKS; ++block) {
    void* volatile memory = malloc(64 + (size_t)(argc > 9));
    free(memory);
  }
  puts(argv[0] ? "done" : "");
  return 0;
}
"""
LIMITS = ["--limit", "allocations=0", "--limit", "allocated_bytes=0"]


@pytest.fixture
def build(tmp_path: Path) -> Callable[[int], None]:
    def make(blocks: int, *flags: str) -> None:
        (tmp_path / "app.c").write_text(PROGRAM)
        words = ["cc", "-O1", f"-DBLOCKS={blocks}", *flags, "-o", "app", "app.c"]
        subprocess.run(words, cwd=tmp_path, check=True, timeout=60)

    return make


def test_one_allocation_more_fails_and_one_less_does_not(
    heapwise: Any, build: Callable[..., None], tmp_path: Path
) -> None:
    build(100)
    saved = heapwise("gate", "--save-baseline", "counts.json", "--new", "./app", *LIMITS)
    assert saved.returncode == 0, saved.stderr
    assert len(json.loads((tmp_path / "counts.json").read_text())["counts"]["allocations"]) == 6
    gate = ["gate", "--baseline", "counts.json", "--new", "./app", *LIMITS]
    same = heapwise(*gate, "--export", "gate.md")
    assert same.returncode == 0, same.stdout + same.stderr
    assert "exact" in same.stdout
    assert (tmp_path / "gate.md").exists()
    build(101)
    worse = heapwise(*gate, "--json")
    assert worse.returncode == 1
    rows = {row["metric"]: row for row in json.loads(worse.stdout)["gate"]["rows"]}
    assert rows["allocations"]["new"] - rows["allocations"]["base"] == 1
    assert "1 more, exact" in rows["allocations"]["sentence"]
    assert rows["allocated_bytes"]["new"] - rows["allocated_bytes"]["base"] == 64
    build(99)
    assert heapwise(*gate).returncode == 0


def test_with_other_surroundings_different_counts_say_nothing(
    heapwise: Any, build: Callable[..., None], tmp_path: Path
) -> None:
    build(100)
    heapwise("gate", "--save-baseline", "counts.json", "--new", "./app", *LIMITS)
    gate = ["gate", "--baseline", "counts.json", "--new", "./app", *LIMITS]
    assert heapwise(*gate, "--", "word").returncode == 0, "equal counts are fine"
    build(120)
    done = heapwise(*gate, "--", "word")
    assert done.returncode == 4
    said = " ".join(done.stdout.split())
    assert "but a count can depend on more than the build: the arguments: none, now word" in said


def test_variables_of_a_job_have_no_part_in_the_counts(
    heapwise: Any, build: Callable[..., None]
) -> None:
    build(100)
    heapwise("gate", "--save-baseline", "counts.json", "--new", "./app", *LIMITS)
    gate = ["gate", "--baseline", "counts.json", "--new", "./app", *LIMITS]
    build(101)
    assert heapwise(*gate, env={"GITHUB_REF": "refs/heads/" + 300 * "x"}).returncode == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--baseline", "none.json", "--limit", "allocations=0"], "none.json cannot be read"),
        (["--baseline", "app.c", "--limit", "allocations=0"], "is not a baseline"),
        (["--baseline", "none.json", "--limit", "time=3%"], "a file can hold counts only"),
        (
            ["--save-baseline", "x.json", "--limit", "allocations=0", "-p", "true"],
            "no other commands",
        ),
    ],
)
def test_a_wrong_file_or_option_is_reported(
    heapwise: Any, build: Callable[..., None], words: list[str], said: str
) -> None:
    build(1)
    done = heapwise("gate", "--new", "./app", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_a_program_whose_calls_cannot_be_counted_gets_no_baseline(
    heapwise: Any, build: Callable[..., None], tmp_path: Path
) -> None:
    build(100, "-static")
    done = heapwise("gate", "--save-baseline", "x.json", "--new", "./app", *LIMITS)
    assert done.returncode == 3
    assert not (tmp_path / "x.json").exists()


def test_a_dry_run_counts_nothing_and_writes_no_file(
    heapwise: Any, build: Callable[..., None], tmp_path: Path
) -> None:
    build(1)
    file = tmp_path / "counts.json"
    save = ["gate", "--save-baseline", "counts.json", "--new", "./app", *LIMITS, "--json"]
    saved = heapwise(*save)
    assert json.loads(saved.stdout) == json.loads(file.read_text())
    before = file.read_bytes()
    build(2)
    planned = heapwise(*save, "--dry-run")
    assert planned.returncode == 0
    assert file.read_bytes() == before
    assert json.loads(planned.stdout)["save_baseline"] == "counts.json"
    gate = ["gate", "--baseline", "counts.json", "--new", "./app", *LIMITS, "--json"]
    compared = heapwise(*gate, "--dry-run")
    assert compared.returncode == 0, "it would be 1 if it were counted"
    assert json.loads(compared.stdout)["baseline"] == "counts.json"
    refused = heapwise(*save, "--export", "gate.md")
    assert refused.returncode == 2
    assert "--export and --save-baseline" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--baseline", "x.json", "--base", "./app", *LIMITS], "--base and --baseline are two"),
        (
            ["--save-baseline", "x.json", "--base", "./app", *LIMITS],
            "--base and --save-baseline do not go together",
        ),
        (
            ["--save-baseline", "x.json", "--pass-without-base", *LIMITS],
            "--pass-without-base: this gate builds nothing",
        ),
        (
            ["--limit", "time<=9s", "--relink", "12", "--build-command", "make"],
            ": this gate builds nothing",
        ),
    ],
)
def test_an_option_that_would_be_passed_over_is_refused(
    heapwise: Any, build: Callable[..., None], words: list[str], said: str
) -> None:
    build(1)
    done = heapwise("gate", "--new", "./app", *words)
    assert done.returncode == 2, done.stdout
    assert said in " ".join(done.stderr.split())


def test_a_setting_of_the_other_verbs_is_not_a_file_of_a_gate(
    heapwise: Any, build: Callable[..., None], tmp_path: Path
) -> None:
    build(1)
    (tmp_path / "heapwise.toml").write_text('baseline = "glibc"\n')
    gate = ["gate", "--new", "./app", *LIMITS]
    with_base = heapwise(*gate, "--base", "./app", env={"HEAPWISE_BASELINE": "glibc"})
    assert with_base.returncode == 0, with_base.stderr
    (tmp_path / "heapwise.toml").write_text('build_command = "make"\n')
    saved = heapwise(*gate, "--save-baseline", "x.json")
    assert saved.returncode == 0, "only what was typed is refused: " + saved.stderr
    (tmp_path / "heapwise.toml").write_text('baseline = "glibc"\n')
    alone = heapwise(*gate)
    assert alone.returncode == 2
    assert "glibc cannot be read" not in alone.stderr
