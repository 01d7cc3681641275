"""Files whose names are not UTF-8: a trace has another character for each byte that is not."""

from __future__ import annotations

import os
import re
from pathlib import Path

REPLACED = re.compile("\ufffd+")


def file_of(written: str) -> Path:
    """The one file that is written so in a trace. The path itself if there is none, or more."""
    path = Path(written)
    if not REPLACED.search(written) or path.exists():
        return path
    found = [Path(path.anchor)]
    for name in path.parts[len(found[0].parts) :]:
        found = [each for folder in found for each in _entries(folder, name)]
    return found[0] if len(found) == 1 else path


def _entries(folder: Path, name: str) -> list[Path]:
    if not REPLACED.search(name):
        return [folder / name] if (folder / name).exists() else []
    try:
        found = list(folder.iterdir())
    except OSError:
        return []
    return [each for each in found if _as_written(each.name) == REPLACED.sub("\ufffd", name)]


def _as_written(name: str) -> str:
    return REPLACED.sub("\ufffd", os.fsencode(name).decode(errors="replace"))
