"""One path for two builds that lie at two paths: clones that are renamed in turn."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from heapwise.catalog.built_tree import MOST_FILES
from heapwise.catalog.same_build import roots_of
from heapwise.model import BuildPlace
from heapwise.runner.commits.checkout import cache
from heapwise.runner.commits.owner import has_ended, own_name
from heapwise.runner.process.script import interpreter_chain

PLACES = "places"
NAMES = ("base", "head")
STANDS = "tree"

MOST_COPIED = 256 << 20
"""Bytes, where hard links are not possible."""

MOST_SIBLINGS = 500


@dataclass(frozen=True)
class CommonPlace:
    """places: of the base and of the new build; empty if both are run where they lie. uneven: why
    their paths differ in length all the same; "" if they do not."""

    places: list[BuildPlace] = field(default_factory=list)
    uneven: str = ""


class _CannotBeCloned(Exception):
    pass


@contextmanager
def common_place(base: Path, new: Path) -> Iterator[CommonPlace]:
    """base, new: absolute paths of the programs. The clones are gone when this is left.

    Where nothing can be cloned, paths of equal length and depth serve: a program that does more
    than to copy its path, for example sorts or hashes it, can tell them apart even so.
    """
    if base == new:
        yield CommonPlace()
        return
    folder = cache() / PLACES / own_name()
    _remove_left(folder.parent)
    try:
        yield CommonPlace(_cloned(base, new, folder))
    except _CannotBeCloned as error:
        yield CommonPlace(uneven="" if _equally_long(base, new) else str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _equally_long(base: Path, new: Path) -> bool:
    return [*map(len, base.parts)] == [*map(len, new.parts)]


def _cloned(base: Path, new: Path, folder: Path) -> list[BuildPlace]:
    """The folder of programs in one folder that have two names is cloned once, and each program has
    the new one's name in turn. Else each tree is cloned."""
    roots = roots_of(base, new)
    for program, root in zip((base, new), roots, strict=True):
        if folder.is_relative_to(root) or folder.is_relative_to(program.parent):
            raise _CannotBeCloned(f"{folder}, where they would be cloned to, is in {root}")
        if any(link.is_relative_to(root) for link in interpreter_chain(program)[1:]):
            raise _CannotBeCloned(f"the first line of {program} names a path in {root}")
    try:
        folder.mkdir(parents=True, mode=0o700)
        if base.parent == new.parent:
            return _names_in_turn(base, new, folder)
        budget = _Budget(MOST_FILES, MOST_COPIED)
        places = []
        for name, program, root in zip(NAMES, (base, new), roots, strict=True):
            inner = program.relative_to(root)
            if inner == Path():  # two names in two folders
                raise _CannotBeCloned(f"{base} and {new} have other names in other folders")
            _clone(root, folder / name, budget, root)
            stands = folder / STANDS
            places.append(
                BuildPlace(
                    str(program),
                    str(folder / name),
                    str(stands),
                    str(stands / inner),
                    beside=str(program),
                )
            )
        _link_siblings(roots[1], folder)
    except OSError as error:
        raise _CannotBeCloned(f"they cannot be cloned to {folder}: {error.strerror}") from error
    return places


def _names_in_turn(base: Path, new: Path, folder: Path) -> list[BuildPlace]:
    tree = folder / STANDS
    _clone(base.parent, tree, _Budget(MOST_FILES, MOST_COPIED), base.parent)
    _link_siblings(base.parent, folder)
    places = []
    for name, program in zip(NAMES, (base, new), strict=True):
        root = tree / f".{name}-of-heapwise"
        _one_file(program, root, base.parent)
        at = str(tree / new.name)
        places.append(BuildPlace(str(program), str(root), at, at, beside=str(program)))
    (tree / new.name).unlink()
    return places


@dataclass
class _Budget:
    """What may still be cloned."""

    files: int
    copied_bytes: int

    def spend(self, files: int, size: int) -> None:
        self.files -= files
        self.copied_bytes -= size
        if min(self.files, self.copied_bytes) < 0:
            raise _CannotBeCloned("their trees are too large to be cloned")


def _clone(source: Path, target: Path, budget: _Budget, root: Path) -> None:
    """With hard links where the file system has them."""
    budget.spend(1, 0)
    if source.is_dir() and not source.is_symlink():
        target.mkdir()
        for path in source.iterdir():
            _clone(path, target / path.name, budget, root)
        shutil.copystat(source, target)
    elif source.is_symlink() or source.is_file():
        budget.spend(0, _one_file(source, target, root))


def _one_file(source: Path, target: Path, root: Path) -> int:
    """Returns how many bytes were copied. A link that leaves the tree leads to the same file."""
    if source.is_symlink():
        end = Path(os.path.normpath(source.parent / source.readlink()))
        target.symlink_to(source.readlink() if end.is_relative_to(root) else end)
        return 0
    with suppress(OSError):
        target.hardlink_to(source)
        return 0
    shutil.copy2(source, target)
    return source.stat().st_size


def _link_siblings(root: Path, folder: Path) -> None:
    """What lies beside a tree is found beside its clone, except for the names of the clones."""
    for path in islice(root.parent.iterdir(), MOST_SIBLINGS):
        if path.name not in (*NAMES, STANDS) and not os.path.lexists(folder / path.name):
            (folder / path.name).symlink_to(path)


def _remove_left(folder: Path) -> None:
    """What a process that was killed has left behind. A folder that cannot be read has nothing of
    this user."""
    with suppress(OSError):
        for path in folder.iterdir():
            if has_ended(path.name):
                shutil.rmtree(path, ignore_errors=True)
