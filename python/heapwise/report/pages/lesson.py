"""What the page of an experiment teaches: its loop, the instructions, a sentence, what to try."""

from __future__ import annotations

import shlex
from pathlib import Path

from heapwise.catalog.experiments import find_experiments
from heapwise.catalog.lessons import Lesson, find_lesson
from heapwise.catalog.loop_code import loop_of, source_of
from heapwise.document import Code, Heading, Passage, Sentence, SentenceList, under
from heapwise.errors import Problem
from heapwise.model import Experiment


def lesson_passages(experiment: Experiment) -> list[Passage]:
    """Empty if the experiment has no lesson, or it is not known which program was measured. The
    instructions are those of the program here, whose hash is named if another was measured."""
    lesson = find_lesson(experiment.id) if experiment.program_hash else None
    if lesson is None:
        return []
    tries = [
        f"`heapwise run {experiment.id} {_settings(each.settings)}`: {each.shows}"
        for each in lesson.tries
    ]
    learn = under("What to learn from it", [Sentence(lesson.learn)])
    return [*learn, *_code(experiment, lesson), *under("Try", [SentenceList(tries)])]


def _settings(settings: list[str]) -> str:
    return " ".join(f"--set {shlex.quote(each)}" for each in settings)


def _code(experiment: Experiment, lesson: Lesson) -> list[Passage]:
    passages: list[Passage] = []
    if source := source_of(experiment.id, lesson.loop):
        passages += [Heading("The loop"), Code("\n".join(source), "cpp")]
    here = _here(experiment)
    if here and (loop := loop_of(Path(here.binary), lesson.symbol)):
        words = Sentence(_which(experiment, here))
        passages += [Heading("Its instructions"), words, Code("\n".join(loop), "asm")]
    return passages


def _here(experiment: Experiment) -> Experiment | None:
    """The same experiment among those that are installed."""
    try:
        return next((each for each in find_experiments() if each.id == experiment.id), None)
    except Problem:
        return None


def _which(experiment: Experiment, here: Experiment) -> str:
    if here.program_hash == experiment.program_hash:
        return "In the program that was measured, by `objdump`:"
    return (
        f"In the program with the hash {here.program_hash}, by `objdump`. The figures are of "
        "another build:"
    )
