"""C++ as a list of tokens, without comments, white space and what preprocessor lines say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PARTS = re.compile(
    r"(?P<skipped>//[^\n]*|/\*.*?\*/|^[ \t]*\#[ \t]*(?:include|pragma|error)[^\n]*|\s+)"
    r'|(?P<text>(?:u8|[uUL])?R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w'.]*)|(?P<sign>::|->|&&|\|\||\.\.\.|.)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Token:
    """text: as it is written. begin, end: its place. is_word: an identifier or a keyword."""

    text: str
    begin: int
    end: int
    is_word: bool


def tokens(source: str) -> Iterator[Token]:
    """Every token of a source file."""
    for match in PARTS.finditer(source):
        if match.lastgroup != "skipped":
            yield Token(match[0], match.start(), match.end(), match["word"] is not None)
