"""Instructions of one process, counted by valgrind's callgrind where no processor counts them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

TOTAL = re.compile(rb"^(?:summary|totals): (\d+)", re.MULTILINE)


def under_callgrind(command: Sequence[str], file: Path) -> list[str]:
    """The command that counts what ``command`` executes itself; its children are not counted."""
    file.unlink(missing_ok=True)
    return [
        "valgrind",
        "--quiet",
        "--tool=callgrind",
        "--dump-line=no",
        f"--callgrind-out-file={file}",
        *command,
    ]


def total_in(file: Path) -> int | None:
    """None if it was not written, as when the program did not end well."""
    try:
        found = TOTAL.search(file.read_bytes())
    except OSError:
        return None
    return int(found[1]) if found else None
