"""A command line as a shell would read it, as far as no shell is needed for it."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Sequence

from heapwise.errors import Problem

ONLY_A_SHELL = re.compile(r"[|&;<>`]|\$[\w({]")
IN_DOUBLE_QUOTES = re.compile(r"`|\$[\w({]")
HOME = re.compile(r"(?:^|\s)(~[\w/]*)")
PATTERN = re.compile(r"[*?\[]")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def split_words(text: str, *, by_shell: bool) -> list[str]:
    """Problem E003 for a command that needs a shell and does not get one."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Problem("E003", f"{text}: {error}", do="quote it as for a shell") from error
    if not words:
        raise Problem(
            "E003",
            "a command is empty",
            why="Nothing was started.",
            do="heapwise compare 'CMD 1' 'CMD 2'",
        )
    if not by_shell and (found := _only_a_shell(text)):
        raise Problem(
            "E003",
            f"'{text}' contains {found}, which only a shell understands",
            why="Commands are started without a shell, so that its own start is not measured.",
            do="heapwise compare --shell ..., or quote the character",
        )
    return words


def split_assignments(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """``A=1 B=2 program word``, as a shell takes it: variables of the program, and its words."""
    found = dict[str, str]()
    rest = list(words)
    while len(rest) > 1 and ASSIGNMENT.match(rest[0]):
        name, _, value = rest.pop(0).partition("=")
        found[name] = value
    return found, rest


def pasted(words: Sequence[str]) -> str:
    """A command for a shell. A quoted assignment would be a program's name there."""
    variables, rest = split_assignments(words)
    before = [f"{name}={value and shlex.quote(value)}" for name, value in variables.items()]
    return " ".join([*before, shlex.join(rest)])


def _only_a_shell(text: str) -> str:
    """The first thing that only a shell does, and that it would do here; "" without one. A pattern
    that no file matches stays as it is in a shell, too."""
    bare, double = _without_quotes(text)
    for found in (ONLY_A_SHELL.search(bare), IN_DOUBLE_QUOTES.search(double)):
        if found:
            return found.group()
    if home := HOME.search(bare):
        return home.group(1)
    return next((word for word in bare.split() if PATTERN.search(word) and glob.glob(word)), "")  # noqa: PTH207  Path.glob takes no absolute pattern


def _without_quotes(text: str) -> tuple[str, str]:
    """(what is outside quotes, what is in double quotes), without what a backslash protects."""
    bare, double, quote, escaped = list[str](), list[str](), "", False
    for letter in text:
        if escaped:
            escaped = False
        elif letter == "\\" and quote != "'":
            escaped = True
        elif quote:
            if letter == quote:
                quote = ""
            elif quote == '"':
                double.append(letter)
        elif letter in "'\"":
            quote = letter
        else:
            bare.append(letter)
    return "".join(bare), "".join(double)
