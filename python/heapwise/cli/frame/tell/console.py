"""Where words go: results on stdout, everything else on stderr; with ``--json`` only JSON there."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from dataclasses import dataclass
from typing import Any, TextIO

from heapwise.document.aligned import WIDTH
from heapwise.document.folding import is_live as is_live
from heapwise.document.folding import labelled as labelled
from heapwise.errors import CATALOGUE, Exit, Problem
from heapwise.wording.visible import ODD, visible


@dataclass(frozen=True)
class Console:
    """How one verb speaks. ``quiet`` leaves only the result and what went wrong. as_json,
    as_markdown: stdout belongs to a document of that kind."""

    quiet: bool = False
    as_json: bool = False
    as_markdown: bool = False

    def say(self, text: str = "") -> None:
        """What a user may like to know on the way."""
        if not self.quiet:
            _write(self._words, visible(text))

    def result(self, text: str) -> None:
        """What the user asked for; on stderr when stdout belongs to a document."""
        if not ((self.as_json or self.as_markdown) and self.quiet):
            _write(self._words, visible(text))

    def markdown(self, text: str) -> None:
        """The document of ``--markdown``."""
        _write(sys.stdout, visible(text))

    @property
    def _words(self) -> TextIO:
        return sys.stderr if self.as_json or self.as_markdown else sys.stdout

    def json(self, document: Any) -> None:
        """The machine's output; dataclasses as objects, units as in the model."""
        import msgspec

        from heapwise.store.codec import encode

        builtins = msgspec.to_builtins(document, enc_hook=str)
        text = msgspec.json.format(encode(builtins), indent=2).decode()
        _write(sys.stdout, ODD.sub(lambda found: json.dumps(found.group())[1:-1], text))

    def warn(self, id: str, what: str) -> None:
        """A note of the catalogue, in one line of stderr."""
        entry = CATALOGUE[id]
        word = "note" if entry.exit == Exit.DONE else "warning"
        _write(sys.stderr, f"{style(word, 'yellow')} {id}: {visible(what)} {entry.why}")


def print_problem(problem: Problem) -> None:
    """What, why, what next, and the id under which ``explain`` says more."""
    what, _, words = problem.what.strip().partition("\n")
    for line in words.splitlines():  # what a program said
        error_line(f"    {line}")
    head = f"error {problem.id}: {visible(what)}"
    body = textwrap.fill(
        f"{_sentence(head)} {problem.why}",
        WIDTH,
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )
    _write(sys.stderr, style(body[:5], "red") + body[5:])
    error_line(f"  do: {problem.do}    more: heapwise explain {problem.id}")


def error_line(text: str) -> None:
    _write(sys.stderr, visible(text))


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


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) else text + "."


class ReaderGone(Exception):
    """Nobody reads our output any more, as after ``| head``."""


def _write(stream: TextIO, text: str) -> None:
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise Problem("E056", f"the output cannot be written: {error.strerror}") from error
