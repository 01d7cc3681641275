"""Which requirements of the private sources a build with checks asserts (``os/expects.hpp``).

A requirement is checked if the body of its function calls ``expects`` or one of its kind. What no
function can find out in constant time remains: what other threads do, what the caller does later,
that no lock is held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REQUIRES = re.compile(r"^\s*//.*\bRequires:")
COMMENT = re.compile(r"^\s*//")
NOT_A_NAME = re.compile(r"\[\[[^\]]*\]\]|template <[^>]*>|\brequires\b[^{;]*?\)(?= )")
NAME = re.compile(r"(\w+)\s*\(")
CHECK = re.compile(r"\bexpects(?:_\w+)?\(")
BEFORE_BODY = re.compile(
    r"(?:\s*(?:const|noexcept|override|final|&|->\s*[\w:<>*& ]+))*"
    r"\s*(?::[^{;]*(?:\{[^{}]*\}[^{;]*)*)?\{"
)


@dataclass(frozen=True)
class Requirement:
    """A function whose contract has "Requires:"."""

    file: str
    line: int
    function: str
    checked: bool


def requirements(root: Path) -> Iterator[Requirement]:
    """Those of ``src``, in the order of files and lines."""
    folder = root / "src"
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".cpp", ".hpp")
    }
    for path, text in texts.items():
        bodies = [text, *(_sources_of(path, texts))]
        lines = text.splitlines()
        for number, line in enumerate(lines):
            if not REQUIRES.match(line):
                continue
            end = next(
                (at for at in range(number, len(lines)) if not COMMENT.match(lines[at])), len(lines)
            )
            found = NAME.search(NOT_A_NAME.sub("", " ".join(lines[end : end + 4])))
            if found is None:
                continue
            checked = any(CHECK.search(body) for each in bodies for body in _bodies(each, found[1]))
            yield Requirement(path.relative_to(root).as_posix(), end + 1, found[1], checked)


def _sources_of(header: Path, texts: dict[Path, str]) -> Iterator[str]:
    """The sources that may define what a header declares: those of its folder, of its name, and
    those that ask the system."""
    if header.suffix == ".hpp":
        for path, text in texts.items():
            may_define = (
                path.is_relative_to(header.parent)
                or path.stem == header.stem
                or (path.parent.name == "linux" and header.is_relative_to(path.parent.parent))
            )
            if path.suffix == ".cpp" and may_define:
                yield text


def _bodies(text: str, name: str) -> Iterator[str]:
    """The bodies of the functions of this name."""
    for match in re.finditer(rf"(?<![\w.>]){re.escape(name)}\(", text):
        after = _end_of(text, match.end(), "()")
        body = BEFORE_BODY.match(text, after)
        if body:
            yield text[body.end() : _end_of(text, body.end(), "{}")]


def _end_of(text: str, begin: int, pair: str) -> int:
    """Behind the bracket that closes the one before ``begin``."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at + 1
    return len(text)
