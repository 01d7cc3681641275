"""The shell that starts the commands of ``compare``, if one does."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from heapwise.errors import Problem

SHELL = "/bin/sh"
DEFAULT, NONE = "default", "none"
NO_SHELL = ("-N", "--no-shell")
"""Other spellings of ``--shell=none``."""
SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", DEFAULT, NONE}
"""Names that ``--shell`` may be followed by, as in hyperfine. Other words are commands."""


def joined_shell(words: Sequence[str]) -> list[str]:
    """``--shell bash`` as ``--shell=bash``, and ``--shell`` before a command as
    ``--shell=default``; ``-N`` and ``--no-shell`` as ``--shell=none``."""
    found, rest = list[str](), list(words)
    while rest:
        word = rest.pop(0)
        if word in NO_SHELL:
            found.append(f"--shell={NONE}")
        elif word == "--shell":
            named = bool(rest) and Path(rest[0]).name in SHELLS
            found.append(f"--shell={rest.pop(0) if named else DEFAULT}")
        else:
            found.append(word)
    return found


def shell_words(shell: str | None) -> list[str]:
    """The words before ``-c COMMAND``; [] if each command is started without a shell. Problem E003
    for a shell without a name."""
    if shell is None or shell == NONE:
        return []
    if shell == DEFAULT:
        return [SHELL]
    try:
        words = shlex.split(shell)
    except ValueError as error:
        raise Problem("E003", f"-S {shell}: {error}", do="quote it as for a shell") from error
    if not words:
        raise Problem("E003", "-S: the shell has no name", do="heapwise compare -S bash 'COMMAND'")
    return words
