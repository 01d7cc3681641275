"""Instructions of one process, counted by valgrind's cachegrind where no processor counts them.

Callgrind counts the same to 0.3 %, and needs two to three times as long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

TOTAL = re.compile(rb"^(?:summary|totals): (\d+)", re.MULTILINE)


def under_cachegrind(command: Sequence[str], file: Path) -> list[str]:
    """The command that counts what ``command`` executes itself; its children are not counted."""
    file.unlink(missing_ok=True)
    return [
        "valgrind",
        "--quiet",
        "--tool=cachegrind",
        "--cache-sim=no",
        f"--cachegrind-out-file={file}",
        *command,
    ]


def total_in(file: Path) -> int | None:
    """None if it was not written, as when the program did not end well."""
    try:
        found = TOTAL.search(file.read_bytes())
    except OSError:
        return None
    return int(found[1]) if found else None
