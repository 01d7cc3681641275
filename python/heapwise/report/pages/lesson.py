"""What the page of an experiment teaches: its loop, the instructions, a sentence, what to try."""

from __future__ import annotations

import shlex
from pathlib import Path

from heapwise.catalog.experiments import find_experiments
from heapwise.catalog.lessons import Lesson, find_lesson
from heapwise.catalog.loop_code import loop_of, source_of
from heapwise.errors import Problem
from heapwise.model import Experiment


def lesson_lines(experiment: Experiment) -> list[str]:
    """Empty if the experiment has no lesson. The loop and its instructions are shown if the program
    that was measured is the one that is here."""
    lesson = find_lesson(experiment.id)
    if lesson is None:
        return []
    return [
        "## What to learn from it",
        "",
        lesson.learn,
        "",
        *_code(experiment, lesson),
        "## Try",
        "",
        *(
            f"- `heapwise run {experiment.id} {_settings(each.settings)}`: {each.shows}"
            for each in lesson.tries
        ),
        "",
    ]


def _settings(settings: list[str]) -> str:
    return " ".join(f"--set {shlex.quote(each)}" for each in settings)


def _code(experiment: Experiment, lesson: Lesson) -> list[str]:
    if not _is_here(experiment):
        return []
    lines: list[str] = []
    if source := source_of(experiment.id, lesson.loop):
        lines += ["## The loop", "", "```cpp", *source, "```", ""]
    if loop := loop_of(Path(experiment.binary), lesson.symbol):
        lines += ["## Its instructions", "", "In the program that was measured, by `objdump`:", ""]
        lines += ["```asm", *loop, "```", ""]
    return lines


def _is_here(experiment: Experiment) -> bool:
    """Whether the native parts have the program that was measured."""
    if not experiment.program_hash:
        return False
    try:
        found = find_experiments()
    except Problem:
        return False
    return any(
        (each.id, each.program_hash) == (experiment.id, experiment.program_hash) for each in found
    )
