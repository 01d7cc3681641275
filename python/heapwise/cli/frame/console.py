"""Where words go: results on stdout, everything else on stderr; with ``--json`` only JSON there."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import Any, TextIO

from heapwise.errors import CATALOGUE, Exit, Problem

WIDTH = 100


@dataclass(frozen=True)
class Console:
    """How one verb speaks. ``quiet`` leaves only the result and what went wrong."""

    quiet: bool = False
    as_json: bool = False

    def say(self, text: str = "") -> None:
        """What a user may like to know on the way."""
        if not self.quiet:
            _write(sys.stderr if self.as_json else sys.stdout, text)

    def result(self, text: str) -> None:
        """What the user asked for; on stderr when stdout belongs to JSON."""
        if not (self.as_json and self.quiet):
            _write(sys.stderr if self.as_json else sys.stdout, text)

    def json(self, document: Any) -> None:
        """The machine's output; dataclasses as objects, units as in the model."""
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(document, enc_hook=str), indent=2)
        _write(sys.stdout, text.decode())

    def warn(self, id: str, what: str) -> None:
        """A note of the catalogue, in one line of stderr."""
        entry = CATALOGUE[id]
        word = "note" if entry.exit == Exit.DONE else "warning"
        error_line(f"{style(word, 'yellow')} {id}: {what} {entry.why}")


def labelled(label: str, text: str) -> str:
    """On a terminal long text goes on under its beginning; elsewhere it stays one line."""
    if not is_live(sys.stdout):
        return label + text
    return textwrap.fill(
        label + text, min(WIDTH, shutil.get_terminal_size().columns - 1),
        subsequent_indent=" " * len(label), break_long_words=False, break_on_hyphens=False,
    )


def print_problem(problem: Problem) -> None:
    """What, why, what next, and the id under which ``explain`` says more."""
    head = f"error {problem.id}: {problem.what}"
    body = textwrap.fill(
        f"{_sentence(head)} {problem.why}", WIDTH, subsequent_indent=" " * 6,
        break_long_words=False, break_on_hyphens=False,
    )
    error_line(style(body[:5], "red") + body[5:])
    error_line(f"  do: {problem.do}    more: heapwise explain {problem.id}")


def error_line(text: str) -> None:
    _write(sys.stderr, text)


def style(text: str, colour: str) -> str:
    """Coloured for a terminal that wants it: words come before colours."""
    codes = {"red": "31", "yellow": "33", "green": "32", "bold": "1"}
    return f"\033[{codes[colour]}m{text}\033[0m" if colours(sys.stderr) else text


def colours(stream: TextIO) -> bool:
    """NO_COLOR, FORCE_COLOR and TERM=dumb as their authors meant them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def is_live(stream: TextIO) -> bool:
    """Whether a line may be rewritten in place."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) else text + "."


def _write(stream: TextIO, text: str) -> None:
    print(text, file=stream, flush=True)
