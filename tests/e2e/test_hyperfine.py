"""The words that users of hyperfine know: its options, and its tasks beside it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from compared import dry, stored_run

from heapwise.cli.frame.app import verbs_command
from heapwise.cli.frame.ask.command_form import HYPERFINE as INSTEAD

pytestmark = pytest.mark.usefixtures("built_native")

HYPERFINE = shutil.which("hyperfine")


def test_hyperfines_short_options_mean_the_same(heapwise: Any) -> None:
    plan = dry(
        heapwise,
        "-w",
        "2",
        "-m",
        "7",
        "-M",
        "9",
        "-p",
        "P",
        "-s",
        "S",
        "-c",
        "C",
        "-i",
        "-L",
        "n",
        "1,2",
        "-N",
        "echo {n}",
        "printf {n}",
    )
    assert plan["warm_up_rounds"] == 2
    assert (plan["min_rounds"], plan["options"]["most_rounds"]) == (7, 9)
    assert [(b["prepare"], b["setup"], b["cleanup"]) for b in plan["builds"]] == [
        ("P", "S", "C")
    ] * 2
    assert plan["parameters"] == {"n": [1, 2]}
    assert plan["options"]["any_exit"]
    assert dry(heapwise, "-r", "3", "true", "echo")["max_rounds"] == 3


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["-S", "bash"], ["bash", "-c", "echo a"]),
        (["-S", "bash --norc"], ["bash", "--norc", "-c", "echo a"]),
        (["--shell=bash"], ["bash", "-c", "echo a"]),
        (["--shell", "bash"], ["bash", "-c", "echo a"]),
        (["--shell", "default"], ["sh", "-c", "echo a"]),
        (["--shell"], ["sh", "-c", "echo a"]),
        (["--shell", "none"], ["echo", "a"]),
        (["-S", "none"], ["echo", "a"]),
    ],
)
def test_the_shell_can_be_chosen(heapwise: Any, words: list[str], command: list[str]) -> None:
    started = dry(heapwise, *words, "echo a", "echo b")["builds"][0]["command"]
    assert [Path(started[0]).name, *started[1:]] == command


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["-P", "n", "1", "4"], [1, 2, 3, 4]),
        (["-P", "n", "1", "8", "-D", "3"], [1, 4, 7]),
        (["--parameter-scan", "n", "0.3", "0.7", "-D", "0.2"], ["0.3", "0.5", "0.7"]),
        (["-P", "n", "-1", "1", "--parameter-step-size", "2"], ["-1", 1]),
    ],
)
def test_a_range_gives_its_values(heapwise: Any, words: list[str], values: list[Any]) -> None:
    assert dry(heapwise, *words, "echo {n}", "printf {n}")["parameters"] == {"n": values}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-P", "n", "0.1", "0.9"], "needs -D"),
        (["-P", "n", "9", "1"], "has no value"),
        (["-P", "n", "1", "9", "-D", "0"], "has no value"),
        (["-P", "n", "1", "9e9"], "At most 1,000 can be measured"),
        (["-P", "n", "one", "2"], "one is not a number"),
        (["-D", "2"], "-D needs -P"),
        (["-u", "fortnight"], "is not a unit of time"),
    ],
)
def test_a_wrong_range_or_unit_is_reported(heapwise: Any, words: list[str], said: str) -> None:
    done = heapwise("compare", *words, "echo {n}", "printf {n}")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_the_reference_is_the_baseline_and_the_first_command(heapwise: Any) -> None:
    plan = dry(heapwise, "--reference", "true", "-p", "A", "-p", "B", "echo")
    assert [(build["name"], build["prepare"]) for build in plan["builds"]] == [
        ("true", "A"),
        ("echo", "B"),
    ]
    assert plan["subjects"][0]["name"] == "true"


def test_conclude_runs_after_each_process_and_stops_the_run_if_it_fails(
    heapwise: Any, tmp_path: Path
) -> None:
    words = ["-r", "2", "-w", "0", "--ignore-output", "sh -c 'echo run >> log'"]
    done = heapwise("compare", "-C", "echo end >> log", *words, "sh -c 'echo  run >> log'")
    assert done.returncode in (0, 4), done.stderr
    lines = (tmp_path / "log").read_text().split()
    assert lines == ["run", "end"] * (len(lines) // 2)
    done = heapwise("compare", "-C", "exit 5", *words, "true")
    assert done.returncode == 3
    assert "--conclude exit 5 ended with 5" in done.stderr


def test_times_have_the_unit_that_was_chosen(heapwise: Any, tmp_path: Path) -> None:
    words = ["-r", "2", "-w", "0", "--export", "table.md", "sleep 0.01", "sleep 0.011"]
    done = heapwise("compare", "-u", "second", *words)
    assert " 0.01" in done.stdout
    assert " ms" not in done.stdout
    assert "median s" in (tmp_path / "table.md").read_text()
    assert " ms" in heapwise("compare", *words).stdout, "the choice is of one command"


needs_hyperfine = pytest.mark.skipif(HYPERFINE is None, reason="hyperfine is not installed")


SLOWEST_START_S = 0.5
"""More of a process than its nap, on a busy machine."""


SLOW_CAT, SLOW_RM = "sh -c 'cat made && sleep 0.02'", "sh -c 'rm made && sleep 0.02'"
"""hyperfine writes no table of commands that are as short as its own correction for the shell."""


TASKS: dict[str, tuple[list[str], list[str]]] = {
    "one command": (["echo a"], ["echo a"]),
    "two commands": (["sleep 0.01", "sleep 0.03"], ["sleep 0.01", "sleep 0.03"]),
    "a pipeline": (["seq 9 | wc -l", "seq 9 | cat"], ["--shell", "seq 9 | wc -l", "seq 9 | cat"]),
    "a program that ends with 1": (["-i", "false", "true"], ["-i", "false", "true"]),
    "prepare, cleanup, export": (
        [
            "-p",
            "touch made",
            "-c",
            "rm -f made",
            "--export-markdown",
            "table.md",
            SLOW_CAT,
            SLOW_RM,
        ],
        ["-p", "touch made", "-c", "rm -f made", "--export", "table.md", SLOW_CAT, SLOW_RM],
    ),
}


@needs_hyperfine
def test_no_option_of_hyperfine_is_unknown_here() -> None:
    """Those of the installed version, and what later ones added."""
    said = subprocess.run([str(HYPERFINE), "--help"], capture_output=True, text=True, check=True)
    theirs = set(re.findall(r"^ {4}(?:    |(-\w)(?:, ))?(--[a-z-]+)", said.stdout, re.MULTILINE))
    names = {name for pair in theirs for name in pair if name}
    assert len(names) > 25
    names |= {"-N", "-C", "--conclude", "--reference", "--input", "--output", "--sort"}
    ours = {
        name
        for option in verbs_command("compare").commands["compare"].params
        for name in (*option.opts, *option.secondary_opts)
    }
    missing = {name for name in names if not name.startswith("--export-")}
    # -N is read before the options are: test_hyperfines_short_options_mean_the_same has it.
    assert missing - ours - set(INSTEAD) - {"--version", "--help", "-V", "-h", "-N"} == set()


@needs_hyperfine
@pytest.mark.parametrize("task", TASKS)
def test_hyperfines_tasks_take_the_same_words(
    heapwise: Any, environment: dict[str, str], tmp_path: Path, task: str
) -> None:
    """Both do the task, in one command that has as many words (except for --shell)."""
    theirs, ours = TASKS[task]
    assert HYPERFINE is not None
    other = subprocess.run(
        [HYPERFINE, "-w", "1", "-r", "3", "--export-json", "theirs.json", *theirs],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert other.returncode == 0, other.stderr
    table = tmp_path / "table.md"
    table.unlink(missing_ok=True)
    only = ["--allocators", "jemalloc"] if task == "one command" else []
    done = heapwise("compare", "-w", "1", "-r", "3", *only, *ours)
    assert done.returncode == 0, done.stderr
    assert table.exists() == ("export" in task)
    assert not (tmp_path / "made").exists()
    if task == "two commands":
        results = json.loads((tmp_path / "theirs.json").read_text())["results"]
        for result in results:  # the shortest, which no neighbour has made long
            ours_s = min(
                s.values["wall_time"]
                for s in stored_run(tmp_path).samples
                if s.subject == result["command"]
            )
            asked_s = float(result["command"].split()[1])
            assert asked_s <= ours_s < asked_s + SLOWEST_START_S
            assert result["min"] == pytest.approx(ours_s, abs=SLOWEST_START_S)
