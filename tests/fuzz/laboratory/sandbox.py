"""A place where a case runs, and the watch over all that is written outside it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGING = {
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.mkdir": (0,),
    "os.rmdir": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "sqlite3.connect": (0,),
}
"""Audit events -> which of their arguments are changed."""

HARMLESS = ("/dev/", "/proc/")

FOLDERS = ("a/b/cwd", "a/b", "a", "home", "data", "tmp", "store", "out", "outside", ".")

Tree = dict[str, tuple[int, int, int]]


class Sandbox:
    """Folders of a user. ``store`` and ``out`` may be written; the rest may not."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cwd = root / "a" / "b" / "cwd"
        self.store, self.out = root / "store", root / "out"
        self.writes: set[str] = set()
        """Paths that the code in this process opened for writing, or changed otherwise."""

        self._watching = False
        sys.addaudithook(self._hook)

    def fresh(self) -> None:
        """Empty folders, and a file outside that a link or a path could lead to."""
        folders = [self.root / name for name in FOLDERS]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            _empty(folder, folders)
        (self.root / "outside" / "canary").write_text("as it was\n")
        os.chdir(self.cwd)

    def environment(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.root / "home"),
            "BROWSER": "true",
            "XDG_DATA_HOME": str(self.root / "data"),
            "TMPDIR": str(self.root / "tmp"),
            "HEAPWISE_STORE": str(self.store),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "HEAPWISE_NATIVE": os.environ.get("HEAPWISE_NATIVE", ""),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONWARNINGS": "always",
        }

    def tree(self) -> Tree:
        """Every file and folder with its kind, size and time of change."""
        found: Tree = {}
        for folder, folders, files in os.walk(self.root):
            for name in [*folders, *files]:
                path = os.path.join(folder, name)  # noqa: PTH118  names that are not UTF-8 too
                status = os.lstat(path)
                is_file = stat.S_ISREG(status.st_mode)
                found[path] = (
                    status.st_mode,
                    status.st_size if is_file else 0,
                    status.st_mtime_ns if is_file else 0,
                )
        return found

    @contextmanager
    def watched(self) -> Iterator[None]:
        self.writes.clear()
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._watching:
            return
        if event == "open":
            path, mode, flags = arguments
            text = isinstance(mode, str) and set(mode) & set("wax+")
            if text or (isinstance(flags, int) and flags & WRITING):
                self._add(path)
        elif places := CHANGING.get(event):
            for place in places:
                self._add(arguments[place])
        elif event == "socket.connect":
            raise PermissionError("the fuzzer has no network")

    def _add(self, path: Any) -> None:
        if isinstance(path, str | bytes | os.PathLike) and path != ":memory:":
            self.writes.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100


def _empty(folder: Path, kept: list[Path]) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if any(
                place == Path(entry.path) or Path(entry.path) in place.parents for place in kept
            ):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)  # noqa: PTH108  names that are not UTF-8 too


def outside(paths: set[str], allowed: list[Path]) -> list[str]:
    """The paths that are neither below one of the allowed ones nor harmless.

    A file beside an allowed path whose name holds that path's name is its temporary file.
    """

    def may(path: str) -> bool:
        if path.startswith(HARMLESS):
            return True
        for place in allowed:
            if path == str(place) or path.startswith(f"{place}/"):
                return True
            folder, name = os.path.split(path)
            if folder == str(place.parent) and name.startswith(f".{place.name}."):
                return True
        return False

    return sorted(path for path in paths if not may(path))
