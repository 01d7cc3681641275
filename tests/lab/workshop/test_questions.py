"""The questions are read, use options that exist, and become pages with runs and verdicts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer.main
from synthetic import compare_run

from heapwise.cli.frame.app import build_app
from heapwise.evidence import Evidence
from heapwise.report import View
from workshop.programs import program_names, write_programs
from workshop.questions import ask, kept_runs, page, question_names, read_question
from workshop.questions.page import verdict
from workshop.questions.question import FOLDER, Aim, Measured, Question, steps

ROOT = Path(__file__).resolve().parents[3]
TRUE = Question(
    "Nothing",
    "Of a program that does nothing.",
    [
        Measured(
            "{each} rounds",
            ["compare", "-n", "one", "-n", "other", "-r", "{each}", "/bin/true", "{program} 1"],
            ("3",),
            [Aim("other", "wall_time", at_most=50)],
        ),
        Measured("A verb that does not exist", ["nonsense"]),
    ],
    [["touch", "{folder}/prepared"]],
    {"program": "/bin/false"},
)


@pytest.mark.parametrize("name", question_names())
def test_each_command_of_a_question_has_options_that_exist(name: str) -> None:
    group: Any = typer.main.get_command(build_app())
    question = read_question(FOLDER / f"{name}.toml")
    for step in steps(question, question.values):
        command = group.commands[step.words[0]]
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        at = step.words.index("--") if "--" in step.words else len(step.words)
        assert {word for word in step.words[:at] if re.match(r"--?[a-z]", word)} <= known
        left = [brace for word in step.words for brace in re.findall(r"\{(\w+)\}", word)]
        assert set(left) <= {"folder", "python", "heapwise"}


def test_a_question_names_programs_and_recipes_that_there_are() -> None:
    recording = read_question(FOLDER / "recording.toml").measured[-1]
    assert list(recording.each) == program_names()
    [servers] = read_question(FOLDER / "servers.toml").measured
    assert sorted(servers.each) == sorted(
        path.parent.name for path in (ROOT / "recipes").glob("*/recipe.toml")
    )


def test_a_question_is_measured_once_and_told_on_a_page(tmp_path: Path) -> None:
    asked = ask(TRUE, tmp_path, {"program": "/bin/true"})
    assert (tmp_path / "prepared").exists()
    assert [bool(each.run) for each in asked] == [True, False]
    assert ask(TRUE, tmp_path, {"program": "/bin/true"})[0] == asked[0]
    assert kept_runs(tmp_path)[0] == asked[0]
    text = page("nothing", TRUE, asked, tmp_path)
    assert "## 3 rounds\n\n`heapwise compare -n one -n other -r 3 /bin/true '/bin/true 1'`" in text
    assert f"Run {asked[0].run} of " in text
    assert re.search(
        r"\| 3 rounds: wall_time of other \| at most 50x \| \S+x \(95 % CI .*\) "
        r"\| (met|cannot tell here) \|",
        text,
    )
    assert "Not measured: exit code 2" in text
    assert "## The machine" in text


def test_an_aim_is_judged_by_the_interval_and_the_floor() -> None:
    view = View(Evidence(compare_run()))
    row = next(row for row in view.result.rows if row.ratio_low and not row.baseline)
    known = replace(row, ratio=1.2, ratio_low=1.15, ratio_high=1.25)
    said = [
        verdict(known, Aim(row.subject, row.quantity, at_most=bound), view.evidence)
        for bound in (1.5, 1.22, 1.0)
    ]
    assert said == ["met", "cannot tell here", "not met"]


def test_a_prepared_program_runs_by_its_script(tmp_path: Path) -> None:
    write_programs(tmp_path, ["gawk", "xz"])
    scripts = {path.parent.name: path.read_text() for path in tmp_path.glob("*/run.sh")}
    assert sorted(scripts) == ["gawk", "xz"]
    assert all(f"cd {tmp_path / name}" in text for name, text in scripts.items())
    assert all("exec " in text for text in scripts.values())
