"""The text files of the checkout."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = re.compile(r"(^|/)(\.git|\.venv|build|\.heapwise|dist|__pycache__|\.\w+_cache)/")


@dataclass(frozen=True)
class TextFile:
    """A file of the tree: ``name`` is relative to the root."""

    root: Path
    name: str
    text: str

    @property
    def folder(self) -> Path:
        return (self.root / self.name).parent


def names(root: Path) -> list[str]:
    """What git tracks or would track; without git, every file that nobody built."""
    listing = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
    try:
        done = subprocess.run([*listing, "--exclude-standard"], capture_output=True, text=True)
    except OSError:
        done = None
    if done is not None and done.returncode == 0:
        return sorted({name for name in done.stdout.split("\0") if (root / name).is_file()})
    inside = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in inside if not LEFT_OUT.search(path.as_posix()))


def text_files(root: Path) -> Iterator[TextFile]:
    """Every file that is UTF-8."""
    for name in names(root):
        try:
            yield TextFile(root, name, (root / name).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue


def line_of(text: str, offset: int) -> int:
    """The number of the line at ``offset``, from 1."""
    return text.count("\n", 0, offset) + 1
