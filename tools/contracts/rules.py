"""What a contract states, by the kind of declaration.

- Everything has a comment. It may be that of its overload set, or of the group of lines that it
  stands in without an empty line.
- A function with parameters and a result says "Returns:", or that it is as another function.
- A class with a function that changes an object says "Thread safety:", or that it is as another.
- A macro of a C header is named in a comment of that header.

"Requires:", "Throws:" and "Complexity:" are not looked for: whether they apply only a reader knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from contracts.declarations import Declaration, declarations
from contracts.parse import read_declarations

HEADERS = Path("include/heapwise")
LEFT_OUT = ("detail/",)
"""Not public."""

RESULT = re.compile(r"\b[Rr]eturns?\b|\b[Aa]s ")
THREADS = re.compile(r"\b[Tt]hread safety\b|\b[Aa]s (?:a |the )?[a-z]\w+")
MACRO = re.compile(r"^#define (HEAPWISE_\w+)", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def offences(root: Path) -> Iterator[str]:
    """``name:line: declaration: what is missing`` for each public declaration of ``root``."""
    folder = root / HEADERS
    headers = [path for path in sorted(folder.rglob("*.h*")) if _is_public(path, folder)]
    for found in declarations(read_declarations(root, headers)):
        path = Path(found.file)
        if path.is_relative_to(folder) and _is_public(path, folder):
            for missing in _missing(found):
                yield f"{path.relative_to(root)}:{found.line}: {found.name}: {missing}"
    for path in headers:
        yield from _macros(path, root)


def _is_public(path: Path, folder: Path) -> bool:
    return not path.relative_to(folder).as_posix().startswith(LEFT_OUT)


def _missing(found: Declaration) -> Iterator[str]:
    if not found.comment:
        yield "no contract"
        return
    if found.returns and not RESULT.search(found.comment):
        yield 'does not say what it "Returns:"'
    if found.changes and not THREADS.search(found.comment):
        yield 'does not state its "Thread safety:"'


def _macros(path: Path, root: Path) -> Iterator[str]:
    text = path.read_text()
    if path.suffix != ".h":
        return
    said = " ".join(COMMENT.findall(text))
    for match in MACRO.finditer(text):
        guard = f"#ifndef {match[1]}\n" in text
        line = text.count("\n", 0, match.start()) + 1
        before = text[: match.start()].rstrip().endswith("*/")
        if not guard and not before and match[1] not in said:
            yield f"{path.relative_to(root)}:{line}: {match[1]}: no contract"
