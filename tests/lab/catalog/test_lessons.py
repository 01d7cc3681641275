"""What pages of experiments teach: a lesson for each, with a loop that is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from heapwise.catalog.experiments import SHELF, find_experiments
from heapwise.catalog.lessons import read_lessons
from heapwise.catalog.loop_code import MOST_INSTRUCTIONS, loop_of, source_of
from heapwise.runner.plan.experiment_plan import parse_settings

ROOT = Path(__file__).resolve().parents[3]
LESSONS = read_lessons(ROOT / "experiments" / "lessons.toml")

PROGRAM = """
#include <cstdio>
__attribute__((noinline)) unsigned long added(const unsigned* from, unsigned long count) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < count; ++i) sum += from[i];
  return sum;
}
__attribute__((noinline)) int doubled(int number) { return 2 * number; }
int main(int argc, char**) {
  unsigned numbers[64] = {};
  numbers[0] = doubled(argc);
  std::printf("%lu", added(numbers, 64));
}
"""


@pytest.mark.parametrize("experiment", sorted(LESSONS))
def test_a_lesson_has_two_sentences_and_two_things_to_try(experiment: str) -> None:
    lesson = LESSONS[experiment]
    assert len(re.findall(r"[.:](?: |$)", lesson.learn)) >= 2
    assert len(lesson.tries) == 2
    assert all(not each.shows.endswith(".") for each in lesson.tries)


@pytest.mark.parametrize("experiment", sorted(LESSONS))
def test_the_loop_of_a_lesson_is_in_the_source(experiment: str) -> None:
    lines = source_of(experiment, LESSONS[experiment].loop)
    assert lines, LESSONS[experiment].loop
    assert lines[-1].startswith("}")


def test_each_small_experiment_has_a_lesson_whose_settings_it_knows(built_native: Path) -> None:
    shelf = [each for each in find_experiments() if each.family in SHELF]
    assert {each.id for each in shelf} == set(LESSONS)
    for experiment in shelf:
        for each in LESSONS[experiment.id].tries:
            names = {setting.partition("=")[0] for setting in each.settings}
            assert names <= {parameter.name for parameter in experiment.parameters}
            parse_settings(list(each.settings), [experiment])


def test_the_innermost_loop_of_a_program_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(PROGRAM)
    program = tmp_path / "a"
    subprocess.run(["g++", "-O1", str(tmp_path / "a.cpp"), "-o", str(program)], check=True)
    name, *loop = loop_of(program, "added")
    assert name.startswith("; added(unsigned int const*")
    assert loop[0].startswith("top: ")
    assert re.fullmatch(r" +j\w+ top", loop[-1])
    assert any("add" in line for line in loop)
    assert len(loop) < 8
    whole = loop_of(program, "doubled")
    assert any("ret" in line for line in whole)
    assert len(whole) <= MOST_INSTRUCTIONS
    assert loop_of(program, "absent") == []
    assert loop_of(tmp_path / "a.cpp", "added") == []


def test_a_declaration_is_not_taken_for_the_definition(tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "cpu" / "sources"
    folder.mkdir(parents=True)
    (folder.parent / "one.cpp").write_text("int twice(int number);\n")
    (folder / "more.hpp").write_text("/// Doubles.\nint twice(int number) {\n  return 2;\n}\n")
    assert source_of("cpu/one", "twice", tmp_path / "experiments") == [
        "/// Doubles.",
        "int twice(int number) {",
        "  return 2;",
        "}",
    ]
    assert source_of("cpu/one", "thrice", tmp_path / "experiments") == []
