"""What an experiment teaches: ``lessons.toml`` beside the experiments."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.natives import native_folder

FILE = "lessons.toml"
NO_CODE = "none"


class Try(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``settings``: as ``--set`` takes them. ``shows``: what to look for, as a sentence."""

    settings: list[str]
    shows: str


class Lesson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``loop``: the function of the experiment that has the loop. ``code``: the function in the
    program that the loop is compiled into, if it is another; ``none`` if there is no such one."""

    loop: str
    learn: str
    tries: list[Try]
    code: str = ""

    @property
    def symbol(self) -> str:
        """The function in the program; "" if there is none."""
        return "" if self.code == NO_CODE else self.code or self.loop


def read_lessons(path: Path) -> dict[str, Lesson]:
    """Experiment -> its lesson. ValueError for a file of another form."""
    return msgspec.convert(tomllib.loads(path.read_text("utf-8")), dict[str, Lesson])


def find_lesson(experiment: str) -> Lesson | None:
    """None if there is none, or no native parts are here."""
    try:
        path = native_folder() / "experiments" / FILE
        return read_lessons(path).get(experiment) if path.is_file() else None
    except (Problem, ValueError, OSError):
        return None
