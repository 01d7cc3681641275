"""The rows: one shell script, one program in use; what it needs stands in its head.

    # what:  one line for people
    # needs: PROGRAM ...                   without them the row cannot run
    # get:   how they come on the machine
    # proof: FILE ...                      programs that must have been given our malloc
    # tier:  test | long                   `make test` or `make test-long`
    # limit: SECONDS                       optional; default 60

Its standard output is the same under every malloc; what differs by nature it keeps to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "rows"


@dataclass(frozen=True)
class Row:
    """One script and what its head says."""

    script: Path
    what: str
    needs: tuple[str, ...]
    get: str
    proof: tuple[str, ...]
    tier: str
    limit_s: float

    @property
    def name(self) -> str:
        return self.script.stem


def read_row(script: Path) -> Row:
    """Raises KeyError when the head lacks a line."""
    head = {}
    for line in script.read_text().splitlines():
        if line.startswith("# ") and ": " in line:
            key, _, value = line[2:].partition(":")
            head.setdefault(key, value.strip())
    return Row(
        script,
        head["what"],
        tuple(head["needs"].split()),
        head["get"],
        tuple(head["proof"].split()),
        head["tier"],
        float(head.get("limit", "60")),
    )


def all_rows() -> list[Row]:
    return [read_row(script) for script in sorted(FOLDER.glob("*.sh"))]
