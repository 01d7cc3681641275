"""Whether two builds are one program, so that nothing has to be measured between them.

They are if everything that the program can load, start or read beside it is equal. If that cannot
be known, the answer is that they may differ, and then something is measured.
"""

from __future__ import annotations

import os
from pathlib import Path

from heapwise.catalog.built_tree import tree_digest


def roots_of(one: Path, other: Path) -> tuple[Path, Path]:
    """The outermost folders, or files, in which the two paths differ: ``old`` and ``new`` of
    ``old/bin/app`` and ``new/bin/app``. Links are not followed: a program can see through which
    link it was started."""
    first, second = _plain(one).parts, _plain(other).parts
    shared = 0
    while shared < min(len(first), len(second)) - 1 and first[-1 - shared] == second[-1 - shared]:
        shared += 1
    return Path(*first[: len(first) - shared]), Path(*second[: len(second) - shared])


def same_build(one: Path, other: Path) -> str:
    """By what they are known to be one program; "" if they may differ.

    Two names in one folder may be two programs although they are one file, since a program can ask
    for its name. Two trees in different folders may find different files above them.
    """
    if _plain(one) == _plain(other):
        return "they are one file"
    roots = roots_of(one, other)
    if one.name != other.name or not _lie_together(*roots) or not same_trees(*roots):
        return ""
    return f"all files of {roots[0]} and {roots[1]} are equal"


def same_trees(one: Path, other: Path) -> bool:
    """Whether each has the files of the other, and what is loaded of them is equal."""
    digest = tree_digest(one)
    return bool(digest) and digest == tree_digest(other)


def _plain(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def _lie_together(one: Path, other: Path) -> bool:
    return one.parent.resolve() == other.parent.resolve()
