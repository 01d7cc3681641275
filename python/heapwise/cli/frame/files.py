"""Files that a verb writes into a folder that the user named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heapwise.errors import Problem


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """``files``: path below the folder -> text. Problem E050 for a path that leads out of it, or
    cannot be written."""
    for name, text in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise Problem("E050", f"{path} leads out of {folder}",
                          why="Pages are written into their own folder only.",
                          do="--output FOLDER that is new or empty")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise Problem("E050", f"{path} cannot be written: {error.strerror}",
                          do="--output FOLDER that you may write to") from error
