"""Checks that each order of an atomic operation is explained beside it.

A site is an operation with an order other than relaxed, also one that names none and so is
sequentially consistent. A comment on its line, or above it in the same paragraph, says which
operation is its partner, or why it needs the order. Relaxed operations need no comment.

Usage: check_orders.py [PATH ...]     exit 0: all are explained; 1: the others are printed.
Without a path, `src` and `include` are checked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include")
SUFFIXES = {".h", ".hpp", ".cpp"}
NAMED = re.compile(r"memory_order(?:_|::)(?:acquire|release|acq_rel|seq_cst|consume)\b")
# Operations whose order is sequentially consistent unless one is named.
OPERATION = re.compile(
    r"(?:\.|->)(?:load\(\)|exchange\([^,()]*\)|(?:fetch_\w+|compare_exchange_\w+)\()"
)
FLAG = re.compile(r"\.test_and_set\(\)")
EXPLAINS = re.compile(
    r"\b(acquires?|releases?|partners?|pairs?|sequential(?:ly)?|order(?:s|ed)?|fence|as in)\b",
    re.IGNORECASE,
)
COMMENT = re.compile(r"//.*$")
MOST_LINES_ABOVE = 10


@dataclass(frozen=True)
class Site:
    """An operation with an order; ``is_explained`` if a comment says why."""

    path: Path
    line: int
    text: str
    is_explained: bool


def code_of(line: str) -> str:
    """The line without its comment."""
    return COMMENT.sub("", line)


def statement_from(lines: list[str], at: int) -> str:
    """The code from a line to the end of its statement."""
    taken = []
    for line in lines[at : at + MOST_LINES_ABOVE]:
        taken.append(code_of(line))
        if code_of(line).rstrip().endswith((";", "{", "}")):
            break
    return " ".join(taken)


def is_site(lines: list[str], at: int) -> bool:
    """Whether the line has an order other than relaxed."""
    code = code_of(lines[at])
    if NAMED.search(code):
        return True
    unnamed = OPERATION.search(code) or FLAG.search(code)
    return bool(unnamed) and "memory_order" not in statement_from(lines, at)


def is_explained(lines: list[str], at: int) -> bool:
    """Whether a comment in the paragraph of the line, not below it, says why."""
    for line in reversed(lines[max(0, at - MOST_LINES_ABOVE) : at + 1]):
        if not line.strip() or line.startswith("}"):
            return False
        comment = COMMENT.search(line)
        if comment and EXPLAINS.search(comment[0]):
            return True
    return False


def sites_of(path: Path) -> Iterator[Site]:
    """Each site of a file."""
    lines = path.read_text().splitlines()
    for at, line in enumerate(lines):
        if is_site(lines, at):
            yield Site(path, at + 1, line.strip(), is_explained(lines, at))


def files_of(paths: list[Path]) -> Iterator[Path]:
    """The C++ files among the paths and below them, in order."""
    for path in paths:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (each for each in below if each.suffix in SUFFIXES)


def main() -> int:
    paths = [Path(word) for word in sys.argv[1:]]
    sites = [
        site
        for path in files_of(paths or [ROOT / each for each in FOLDERS])
        for site in sites_of(path)
    ]
    bare = [site for site in sites if not site.is_explained]
    for site in bare:
        print(f"{site.path}:{site.line}: no comment explains the order: {site.text}")
    print(f"orders of atomics: {len(sites)} sites, {len(bare)} without a reason")
    return 1 if bare else 0


if __name__ == "__main__":
    sys.exit(main())
