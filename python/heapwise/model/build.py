"""A program with its arguments, as one of those that a comparison measures side by side."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.model.cell import Setting

ROUND = "round"
"""``{round}`` in a command is the number of the round."""

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Build:
    """``command`` is what is started: the program first, then its arguments.

    A word of it may hold ``{placeholders}``: parameters of the cell, and ``{round}``. A request
    needs the name and the command alone; the plan knows the files. ``name`` is "" if a comparison
    has one program, whose subjects are then named like their allocators.

    build_id: of the ELF file that the kernel runs. sha256: of the program's file. Both are "" if
    they are not known, or if the program's name has a placeholder.
    """

    name: str
    command: list[str]
    as_typed: list[str] = field(default_factory=list)
    """Before the program was looked up."""

    build_id: str = ""
    sha256: str = ""
    prepare: str = ""
    """A shell's command that is run before each process, untimed; "" for none."""

    conclude: str = ""
    """The same after each process."""

    setup: str = ""
    """The same once, before the first process."""

    cleanup: str = ""
    """The same once, after the last process."""

    environment: dict[str, str] = field(default_factory=dict)
    """Variables that the command sets for its program, as ``NAME=value program`` does in a shell.
    The values may hold placeholders."""

    splits_values: bool = False
    """Whether a value with spaces stands for several words: the command was one line of text."""

    @property
    def program(self) -> str:
        return self.command[0]

    @property
    def program_typed(self) -> str:
        """The program as it was typed, without the variables before it."""
        return [*self.as_typed, *self.command][len(self.environment) if self.as_typed else 0]

    @property
    def placeholders(self) -> set[str]:
        """In its command, ``{round}`` included if it is there."""
        words = [*self.command, *self.environment.values()]
        return {name for word in words for name in PLACEHOLDER.findall(word)}

    def started(self, values: Mapping[str, Setting]) -> list[str]:
        """The command with these values in the place of their placeholders. ValueError for a value
        with a quote that does not end, if values are split."""
        if not self.splits_values:
            return [filled(word, values) for word in self.command]
        return [part for word in self.command for part in _split(word, values)]

    def variables(self, values: Mapping[str, Setting]) -> dict[str, str]:
        """``environment`` with these values in the place of their placeholders."""
        return {name: filled(value, values) for name, value in self.environment.items()}


def filled(text: str, values: Mapping[str, Setting]) -> str:
    """Placeholders without a value stay."""
    return PLACEHOLDER.sub(
        lambda found: str(values[found[1]]) if found[1] in values else found[0], text
    )


def _split(word: str, values: Mapping[str, Setting]) -> list[str]:
    """One word, or several if a value in it has spaces outside quotes, as in a shell."""
    if not any(" " in str(values.get(name, "")) for name in PLACEHOLDER.findall(word)):
        return [filled(word, values)]
    text, end = "", 0
    for found in PLACEHOLDER.finditer(word):
        value = str(values[found[1]]) if found[1] in values else shlex.quote(found[0])
        text += (
            shlex.quote(word[end : found.start()]) + value if word[end : found.start()] else value
        )
        end = found.end()
    return shlex.split(text + (shlex.quote(word[end:]) if word[end:] else ""))


def telling_names(commands: Sequence[Sequence[str]]) -> list[str]:
    """A short name for each command that tells it from the others.

    The program's name with its arguments; if several commands share it, the first folder in which
    their programs' paths differ; else numbers.
    """
    for names in ([_plain(command) for command in commands], _folders(commands)):
        if len(set(names)) == len(names) and all(names):
            return names
    return [str(number) for number in range(1, len(commands) + 1)]


LONGEST = 32
PATH = re.compile(r"[^\s;|&<>=()$`'\"]*/(?=[^/\s;|&<>=()$`'\"])")
"""The folders of a path, in a word that may hold more than the path."""


def _plain(command: Sequence[str]) -> str:
    parts = (PATH.sub("", word).replace("/", "") or "root" for word in command)
    words = " ".join(parts).translate({ord("@"): "_"})
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def _folders(commands: Sequence[Sequence[str]]) -> list[str]:
    # "/", with which an absolute path begins, cannot name a build.
    parts = [[part for part in Path(command[0]).parts if part != "/"] for command in commands]
    for place in range(min(map(len, parts))):
        names = [part[place] for part in parts]
        if len(set(names)) == len(names):
            return names
    return [""] * len(parts)
