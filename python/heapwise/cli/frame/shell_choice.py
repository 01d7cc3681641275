"""The shell that starts the commands of ``compare``, if one does."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from heapwise.errors import Problem

SHELL = "/bin/sh"
SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "default", "none"}
"""Names that ``--shell`` may be followed by, as in hyperfine. Other words are commands."""


def joined_shell(words: Sequence[str]) -> list[str]:
    """``--shell=bash`` and ``--shell bash`` as ``-S bash``."""
    found, rest = list[str](), list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("--shell="):
            found += ["-S", word.partition("=")[2]]
        elif word == "--shell" and rest and Path(rest[0]).name in SHELLS:
            found += ["-S", rest.pop(0)]
        else:
            found.append(word)
    return found


def shell_words(*, shell: bool, program: str | None) -> list[str]:
    """The words before ``-c COMMAND``; [] if each command is started without a shell. Problem E003
    for a shell without a name."""
    if program is None or program == "default":
        return [SHELL] if shell or program else []
    if program == "none":
        return []
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise Problem("E003", f"-S {program}: {error}", do="quote it as for a shell") from error
    if not words:
        raise Problem("E003", "-S: the shell has no name", do="heapwise compare -S bash 'COMMAND'")
    return words
