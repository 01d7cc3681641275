"""``compare`` with several command lines: its forms and its options."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compared import dry, stored_run

pytestmark = pytest.mark.usefixtures("built_native")


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], str]:
    def write(name: str, body: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return f"./{name}"

    return write


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        (("echo a", "echo 'b c'"), {"echo a": ["a"], "echo b c": ["b c"]}),
        (("-n", "x", "-n", "y", "echo a", "echo b"), {"x": ["a"], "y": ["b"]}),
        (
            ("--build", "old=echo a", "--build", "new=echo b", "--", "-z", "{n}"),
            {"old": ["a", "-z", "{n}"], "new": ["b", "-z", "{n}"]},
        ),
        (
            ("--shell", "echo a | cat", "echo b"),
            {"echo a | cat": ["-c", "echo a | cat"], "echo b": ["-c", "echo b"]},
        ),
        (("--", "echo", "a", "--rounds", "1"), {"": ["a", "--rounds", "1"]}),
        (("echo a",), {"": ["a"]}),
    ],
)
def test_the_forms_of_a_command_line(
    heapwise: Any, words: tuple[str, ...], commands: dict[str, list[str]]
) -> None:
    plan = dry(heapwise, *words)
    assert {b["name"]: b["command"][1:] for b in plan["builds"]} == commands


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("a", "--", "b"), "is before --"),
        (("--build", "x=true", "true"), "cannot be given with --build"),
        (("--build", "true"), "not of the form name=COMMAND"),
        (("ls | wc", "true"), "which only a shell understands"),
        (("echo $HOME", "true"), "which only a shell understands"),
        (('echo "$HOME"', "true"), "which only a shell understands"),
        (("echo ~/x", "true"), "contains ~/x, which only a shell understands"),
        (("echo /bin/s*", "true"), "contains /bin/s*, which only a shell understands"),
        (("-L", "n", "'x y,2", "echo {n}", "true"), "No closing quotation"),
        (("true", "300"), "each word is a command line of its own"),
        (("true", "--wat"), "heapwise compare -- true --wat"),
        (("-S", "", "true", "echo"), "heapwise compare -S bash 'COMMAND'"),
        (("--style", "none", "true", "echo"), "-q prints the result alone"),
        (("--output", "pipe", "true", "echo"), "--show-output"),
        (("-n", "a", "true", "false"), "1 names for 2 commands"),
        (("-p", "a", "-p", "b", "-p", "c", "true", "echo"), "3 times --prepare"),
        (("-L", "n=", "true"), "NAME=VALUE"),
        (("-m", "9", "-M", "3", "true", "echo"), "is more than --max-rounds"),
        (("--ignore-exit", "x", "true", "echo"), "exit codes are numbers"),
        (("--export", "x.pdf", "true", "echo"), ".html"),
        ((), "no program was given"),
    ],
)
def test_an_unclear_command_is_an_error_with_a_way_out(
    heapwise: Any, words: tuple[str, ...], part: str
) -> None:
    done = heapwise("compare", "--dry-run", *words)
    assert done.returncode == 2
    assert part in " ".join(done.stderr.split())


@pytest.mark.parametrize("word", ["echo 'a*'", "echo zz*zz", "echo a\\\\*", "echo '$HOME'"])
def test_a_word_that_a_shell_would_not_change_is_taken(heapwise: Any, word: str) -> None:
    assert heapwise("compare", "--dry-run", word, "true").returncode == 0


def test_variables_before_a_program_are_its_own(heapwise: Any, tmp_path: Path, script: Any) -> None:
    """As in a shell; also those that tune an allocator, and would not be inherited."""
    show = script("show", 'echo "$MALLOC_ARENA_MAX/$OTHER/$#"')
    done = heapwise(
        "compare",
        "-r",
        "1",
        "-w",
        "0",
        "--ignore-output",
        "-L",
        "n",
        "1,2",
        f"MALLOC_ARENA_MAX={{n}} OTHER='a b' {show} x",
        f"MALLOC_ARENA_MAX=1 {show}",
        "--show-output",
    )
    assert done.returncode in (0, 4), done.stderr
    said = done.stdout + done.stderr
    for line in ("1/a b/1", "2/a b/1", "1//0"):
        assert line in said
    plan = stored_run(tmp_path).run.plan
    assert plan.builds[0].environment == {"MALLOC_ARENA_MAX": "{n}", "OTHER": "a b"}
    assert dry(heapwise, "--", "A=1", show)["builds"][0]["environment"] == {"A": "1"}
    assert [b["name"] for b in dry(heapwise, f"A=1 {show}", f"A=2 {show}")["builds"]] == [
        "A=1 show",
        "A=2 show",
    ]


def test_the_way_out_of_a_mistake_works_as_it_is_shown(heapwise: Any) -> None:
    """A command line is not quoted again as one word after --."""
    done = heapwise("compare", "--dry-run", "LC_ALL=C no-such-program x", "true")
    assert done.returncode == 2
    assert "-- 'LC_ALL" not in done.stderr
    assert "there is no program no-such-program" in " ".join(done.stderr.split())


def test_a_value_with_spaces_is_several_words_of_a_line(heapwise: Any, tmp_path: Path) -> None:
    done = heapwise(
        "compare",
        "-r",
        "1",
        "-w",
        "0",
        "--ignore-output",
        "-L",
        "f",
        "-l -a,'x y'",
        "printf %s/ --{f}=1",
        "printf %s/ {f}",
        "--show-output",
    )
    assert done.returncode in (0, 4), done.stderr
    said = done.stdout + done.stderr
    for line in ("---l/-a=1/", "-l/-a/", "x y/", "--x y=1/"):
        assert line in said
    one_word = heapwise(
        "compare",
        "-r",
        "1",
        "-w",
        "0",
        "-L",
        "f",
        "a b,c",
        "--ignore-output",
        "--show-output",
        "--allocators",
        "glibc,heapwise",
        "--",
        "printf",
        "%s/",
        "{f}",
    )
    assert "a b/" in one_word.stdout + one_word.stderr


def test_a_placeholder_that_is_misspelt_is_named(heapwise: Any) -> None:
    done = heapwise(
        "compare", "--dry-run", "-L", "threads", "1,2", "echo {thread}", "echo {threads}"
    )
    assert "{thread} stays as it is" in done.stdout
    assert "did you mean threads?" in done.stdout


def test_markdown_is_alone_on_stdout(heapwise: Any) -> None:
    done = heapwise("compare", "-r", "2", "-w", "0", "--markdown", "echo a", "printf 'a\\n'")
    assert done.returncode in (0, 4), done.stderr
    first, _, head, *_ = done.stdout.splitlines()
    assert first.startswith("**")
    assert head.startswith("|  | time | vs echo a | peak memory |")
    assert done.stdout.rstrip().endswith("```")
    assert "Trust" in done.stderr
    refused = heapwise("compare", "--json", "--markdown", "true", "echo")
    assert refused.returncode == 2


def test_commands_run_around_the_processes_in_their_fresh_folders(
    heapwise: Any, tmp_path: Path, script: Any
) -> None:
    log = tmp_path / "log"
    one = script("one", "test -f made && test ! -f left && touch left && cat made > out")
    two = script("two", "test -f made && test ! -f left && touch left && cat made > out")
    done = heapwise(
        "compare",
        "-r",
        "2",
        "-s",
        f"echo setup >> {log}",
        "-c",
        f"echo cleanup >> {log}",
        "-p",
        f"echo x > made; echo prepare {{round}} >> {log}",
        "--fresh-dir",
        "--output-file",
        "out",
        one,
        two,
    )
    assert done.returncode == 0, done.stderr
    said = log.read_text().splitlines()
    assert said[:2] == ["setup"] * 2
    assert said[-2:] == ["cleanup"] * 2
    processes = stored_run(tmp_path).processes
    assert said.count("prepare 1") == sum(p.round == 1 for p in processes) == 3
    assert all(p.facts.output_files for p in processes if not p.facts.counting)
    assert not (tmp_path / "left").exists()


def test_a_command_around_a_process_that_fails_ends_the_run(heapwise: Any) -> None:
    done = heapwise("compare", "-r", "1", "-p", "echo broken >&2; exit 9", "true", "echo")
    assert done.returncode == 3
    assert "E034" in done.stderr
    assert "broken" in done.stderr


@pytest.mark.parametrize("option", [("--ignore-exit", "1"), ("-i",)])
def test_a_program_may_end_with_another_code(
    heapwise: Any, tmp_path: Path, option: tuple[str, ...]
) -> None:
    done = heapwise("compare", "-r", "1", "-w", "0", *option, "false", "true")
    assert done.returncode == 0, done.stderr
    assert {p.status for p in stored_run(tmp_path).processes} == {"ok"}


def test_a_program_that_fails_names_the_way_out(heapwise: Any) -> None:
    done = heapwise("compare", "-r", "1", "false", "true")
    assert done.returncode == 3
    assert "--ignore-exit 1" in " ".join(done.stderr.split())


def test_output_table_and_exports_know_each_cell_and_build(heapwise: Any, tmp_path: Path) -> None:
    files = [f"result.{kind}" for kind in ("json", "csv", "md", "html", "bmf.json")]
    done = heapwise(
        "compare",
        "-r",
        "2",
        "-L",
        "n",
        "1,2",
        "--show-output",
        "-n",
        "old",
        "-n",
        "new",
        *(word for file in files for word in ("--export", file)),
        "seq {n}",
        "echo {n}",
    )
    assert done.returncode == 0, done.stderr
    assert "new | 2" in done.stderr
    for word in ("n=1", "n=2", "user", "system", "page faults", "min to max", "vs old"):
        assert word in done.stdout
    for file in files:
        text = (tmp_path / file).read_text()
        assert "old" in text
        assert "new" in text
    assert {
        row["parameters"]["n"] for row in json.loads((tmp_path / "result.json").read_text())["rows"]
    } == {1, 2}
    bencher = json.loads((tmp_path / "result.bmf.json").read_text())
    assert {"compare/old/n=1", "compare/new/n=2"} <= bencher.keys()
    assert 1e4 < bencher["compare/old/n=1"]["latency"]["value"] < 1e11  # nanoseconds


@pytest.mark.parametrize("name", ["result.xml", "result.sarif"])
def test_formats_that_list_failures_are_of_a_gate(heapwise: Any, tmp_path: Path, name: str) -> None:
    done = heapwise("compare", "--export", name, "true", "false")
    assert done.returncode == 2
    assert "a comparison has no limits" in " ".join(done.stderr.split())
    assert f"--limit time=3% --export {name}" in done.stderr
    assert not (tmp_path / name).exists()


def test_the_list_of_verbs_cuts_no_sentence(heapwise: Any) -> None:
    listed = heapwise("--help").stdout.partition("Commands:")[2].splitlines()[1:]
    assert len(listed) > 20
    assert [line for line in listed if not line.endswith(".")] == []


def test_no_line_of_the_table_is_wider_than_the_terminal(heapwise: Any) -> None:
    from heapwise.document.terminal import terminal
    from heapwise.model import Cell, Result, Row, Settings
    from heapwise.study.program.compare_table import compare_tables

    done = heapwise(
        "compare", "-r", "1", "--json", "-n", "a-long-name-of-a-build", "-n", "new", "true", "echo"
    )
    rows = json.loads(done.stdout)["rows"]
    import msgspec

    cell = {"wall_time", "peak_memory", "user_time", "system_time", "minor_faults"}
    kept = [
        msgspec.convert(
            {k: v for k, v in row.items() if k not in ("experiment", "parameters")}
            | {
                "cell": {
                    "experiment": "compare",
                    "parameters": {},
                    "quantity": row["parameters"]["quantity"],
                }
            },
            Row,
            dec_hook=lambda kind, value: Settings(value),
        )
        for row in rows
        if row["parameters"]["quantity"] in cell
    ]
    assert isinstance(kept[0].cell, Cell)

    class Plan:
        subjects: list[Any] = []  # noqa: RUF012

    class Run:
        plan = Plan

    result: Result = type("Some", (), {"rows": kept, "run": Run})()  # type: ignore[assignment]
    for width in (40, 60, 80, 200):
        text = terminal(compare_tables(result, width), width)
        assert max(map(len, text.splitlines())) <= width


def test_control_c_keeps_what_is_known(environment: dict[str, str], tmp_path: Path) -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "heapwise",
            "compare",
            "--time",
            "60s",
            "--precision",
            "0.0001",
            "sleep 0.01",
            "sleep 0.02",
        ],
        env=environment,
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A suite in the background inherits that Ctrl-C is ignored, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    lines = tmp_path / "store"
    deadline = time.monotonic() + 60
    while (
        time.monotonic() < deadline
        and sum(len(f.read_text().splitlines()) for f in lines.glob("runs/*/samples.jsonl")) < 40
    ):
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)
    out, said = child.communicate(timeout=90)
    assert child.returncode == 130, said
    assert "vs sleep 0.01" in out
    assert "heapwise resume" in said


def test_run_without_an_experiment_is_its_help(heapwise: Any, tmp_path: Path) -> None:
    done = heapwise("run")
    assert done.returncode == 0
    assert "Usage: heapwise run" in done.stdout
    assert not (tmp_path / "store").exists()


def test_a_narrow_terminal_shows_a_first_verdict_and_a_table_that_fits(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """On a terminal of 60 columns; ``FIRST_LOOK_S`` is shortened in the child."""
    code = (
        "import sys, heapwise.runner.campaign.campaign as c; c.FIRST_LOOK_S = 0.5\n"
        "from heapwise.cli.frame.app import main\n"
        "main(['compare', '--rounds', '15', 'sleep 0.01', 'sleep 0.02'])"
    )
    leader, follower = pty.openpty()
    subprocess.run(["stty", "cols", "60", "rows", "40"], stdin=follower, check=True)
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment | {"TERM": "xterm"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    said = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    child.wait(timeout=90)
    os.close(leader)
    text = said.decode()
    assert child.returncode == 0, text
    assert "rounds: sleep 0.02 " in text
    assert "after " in text
    assert "sleep 0.02 against sleep 0.01: " in " ".join(text.split())
    table = text[text.rindex("\033[") : text.rindex("Advice")].splitlines()[1:]
    assert "memory" in " ".join(table)  # its heading may take two lines
    assert max(map(len, table)) <= 60
