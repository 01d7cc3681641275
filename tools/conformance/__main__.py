"""Asks the C library and Heapwise the same questions, and writes the page of differences.

Usage: python -m conformance [--check]      --check: writes nothing; exit 1 when the page is old.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from conformance.build import USUAL, build
from conformance.items import PROGRAMS
from conformance.observe import Sight, look
from conformance.subject import library
from conformance.table import PAGE, page


def sights(folder: Path, malloc: Path | None) -> list[Sight]:
    """What every program sees under one malloc."""
    return [look(folder / program, malloc, str(folder)) for program in PROGRAMS]


def main() -> int:
    try:
        malloc = library()
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 5
    with tempfile.TemporaryDirectory(prefix="heapwise-") as name:
        print("==> building and asking, half a minute", file=sys.stderr)
        folder = build(USUAL, Path(name))
        theirs, ours = sights(folder, None), sights(folder, malloc)
        for sight in (*theirs, *ours):
            if sight.trouble:
                print(f"error: {sight.program}: {sight.trouble}", file=sys.stderr)
                return 1
        text = page(theirs, ours)
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    is_new = PAGE.read_text(encoding="utf-8") == text
    print(f"{PAGE.name} is {'as it should be' if is_new else 'old: tools/differences renews it'}")
    return 0 if is_new else 1


if __name__ == "__main__":
    sys.exit(main())
