"""What a tool says of itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import lru_cache

TIMEOUT_S = 20.0


def first_line(command: Sequence[str]) -> str:
    """The first line that it prints, on stdout or else on stderr; "" when it is not here."""
    return _ask(tuple(command)) if command and shutil.which(command[0]) else ""


@lru_cache(maxsize=64)
def _ask(command: tuple[str, ...]) -> str:
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ((said.stdout.strip() or said.stderr.strip()).splitlines() or [""])[0]
