"""What the tests found, kept for the page: a file for each program and way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from world.environments import MADE
from world.judge import Judgement
from world.way import Way

RESULTS = MADE / "results"


class Result(msgspec.Struct, frozen=True):
    """The result of one program in one way."""

    program: str
    way: Way
    judgement: Judgement


def write(result: Result, folder: Path = RESULTS) -> None:
    """Replaces the result of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result.program}.{result.way.value}.json"
    file.write_bytes(msgspec.json.encode(result))


def read_all(folder: Path = RESULTS) -> Iterator[Result]:
    """The newest result of each program in each way."""
    for file in sorted(folder.glob("*.json")):
        yield msgspec.json.decode(file.read_bytes(), type=Result)
