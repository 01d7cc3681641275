"""What the compiler reads in the public headers: clang's syntax tree, with a place at each node."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Node = dict[str, Any]
"""One node of clang's JSON. Each place in it has ``in_file`` and ``at_line``."""

CLANG = (
    "clang++-19",
    "-std=c++20",
    "-fsyntax-only",
    "-fparse-all-comments",
    "-x",
    "c++",
    "-Xclang",
    "-ast-dump=json",
    "-Xclang",
    "-ast-dump-filter=heapwise",
)


def read_declarations(root: Path, headers: list[Path]) -> Iterator[Node]:
    """The outermost declarations of heapwise in the headers, which are read as one program.

    Raises subprocess.CalledProcessError if a header does not compile.
    """
    program = "".join(f'#include "{header}"\n' for header in headers)
    done = subprocess.run(
        [*CLANG, f"-I{root / 'include'}", "-"],
        input=program,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    decoder = json.JSONDecoder(object_hook=_Places())
    start = 0
    while start < len(done.stdout.rstrip()):
        node, end = decoder.raw_decode(done.stdout, start)
        yield node
        while done.stdout[end : end + 1].isspace():
            end += 1
        start = end


class _Places:
    """Clang names the file and the line of a place only if they differ from those before."""

    def __init__(self) -> None:
        self.in_file = ""
        self.at_line = 0

    def __call__(self, node: Node) -> Node:
        if "offset" in node:
            self.in_file = node.get("file", self.in_file)
            self.at_line = node.get("line", self.at_line)
            node["in_file"], node["at_line"] = self.in_file, self.at_line
        return node


def inner(node: Node) -> list[Node]:
    """What is declared inside, without holes."""
    return [child for child in node.get("inner", []) if child.get("kind")]


def place(node: Node, end: str) -> tuple[str, int]:
    """The file and line where a node begins or ends (``end``: "begin" or "end")."""
    where = node["range"][end]
    where = where.get("expansionLoc", where)
    return where.get("in_file", ""), where.get("at_line", 0)


def comment(node: Node) -> str:
    """The words of the comment that stands at the declaration; "" without one."""
    return " ".join(
        text for child in inner(node) if child["kind"] == "FullComment" for text in _words(child)
    )


def _words(node: Node) -> Iterator[str]:
    if "text" in node:
        yield str(node["text"]).strip()
    for child in inner(node):
        yield from _words(child)
