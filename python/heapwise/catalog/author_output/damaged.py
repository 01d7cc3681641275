"""What is wrong with a file of an author's program, and where."""

from __future__ import annotations

import math


class DamagedOutput(ValueError):
    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def number_of(text: str) -> float | None:
    """None if the text is not a finite number."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
