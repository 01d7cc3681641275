"""Files that a verb writes into a folder that the user named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heapwise.errors import Problem


def unwritable(path: Path, error: OSError, option: str = "--output") -> Problem:
    """E050, or E051 if the disk is full, for a file that a verb makes of a run that is stored."""
    from heapwise.store.writer import DISK_FULL

    if path.is_dir():
        return Problem(
            "E050",
            f"{path} is a folder",
            why="The run itself is safe.",
            do=f"{option} {path / 'NAME'}",
        )
    if error.errno in DISK_FULL:
        return Problem(
            "E051",
            f"no room for {path}: {error.strerror}",
            why="The run itself is safe.",
            do=f"make room, or {option} PATH on another disk",
        )
    return Problem(
        "E050",
        f"{path} cannot be written: {error.strerror}",
        why="The run itself is safe.",
        do=f"{option} PATH in a folder that exists and that you may write",
    )


def demand_writable(path: Path, option: str) -> None:
    """Problem E050 or E051 if it cannot be written. An old file keeps its contents, and a new one
    is not there afterwards: a run that does not begin leaves no empty file."""
    existed = path.exists()
    try:
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise unwritable(path, error, option) from error


def write_text(path: Path, text: str, option: str = "--output") -> None:
    """Problem E050 or E051 if it cannot be written. option: the one that named the file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error, option) from error


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """``files``: path below the folder -> text. Problem E050 for a path that leads out of it, or
    cannot be written."""
    for name, text in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise Problem(
                "E050",
                f"{path} leads out of {folder}",
                why="Pages are written into their own folder only.",
                do="--output FOLDER that is new or empty",
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise unwritable(path, error) from error
