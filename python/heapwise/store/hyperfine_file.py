"""The file that ``hyperfine --export-json`` writes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from heapwise.errors import Problem


class TimedCommand(msgspec.Struct, frozen=True):
    """times: seconds, one for each run. parameters: values of ``-L`` and ``-P``."""

    command: str
    times: list[float] = []
    parameters: dict[str, str] = {}


class HyperfineFile(msgspec.Struct, frozen=True):
    results: list[TimedCommand]


def is_hyperfine_file(name: str) -> bool:
    """Whether a word is the path of a file and not a run's id."""
    return name.endswith(".json") and Path(name).is_file()


def read_hyperfine_file(path: Path) -> HyperfineFile:
    """Problem E015 for another file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=HyperfineFile)
    except OSError as error:
        raise Problem("E015", f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Problem(
            "E015",
            f"{path} is not a file of hyperfine --export-json: {error}",
            do="hyperfine --export-json FILE.json, or heapwise export RUN -f hyperfine",
        ) from error
