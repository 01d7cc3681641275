"""A question: commands of ``heapwise`` that measure, and what their runs should show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parent


class Aim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ratio of the subject's quantity to the baseline's, as the report has it, has a bound."""

    subject: str
    quantity: str
    at_most: float | None = None
    at_least: float = 0.0


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command of ``heapwise``, once, or once for each value that {each} has in it."""

    heading: str
    command: list[str]
    each: tuple[str, ...] = ("",)
    aims: list[Aim] = []


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """prepare: commands that run before, in the root of the repository. values: what a command may
    name in braces, beside {folder}, {python} and {heapwise}; a user can give another value."""

    title: str
    introduction: str
    measured: list[Measured]
    prepare: list[list[str]] = []
    values: dict[str, str] = {}


class Step(msgspec.Struct, frozen=True):
    """One command of a question, with all values in it."""

    heading: str
    words: list[str]
    aims: list[Aim]


def question_names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def read_question(file: Path) -> Question:
    return msgspec.toml.decode(file.read_bytes(), type=Question)


def steps(question: Question, values: Mapping[str, str]) -> Iterator[Step]:
    for measured in question.measured:
        for each in measured.each:
            known = {**values, "each": each}
            words = [filled(word, known) for word in measured.command]
            yield Step(filled(measured.heading, known), words, measured.aims)


def filled(text: str, values: Mapping[str, str]) -> str:
    # Not str.format: commands hold braces of other languages, and placeholders such as {port}.
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text
