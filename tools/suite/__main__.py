"""Runs the parts, or those whose names begin with the arguments, and closes with a count.

``--long``: not the parts of every change, but those that take long.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from suite.part import run_part
from suite.parts import all_parts, long_parts
from suite.tally import Tally

LONG = "--long"


def main() -> int:
    root = Path.cwd()
    results = root / "build" / "test"
    results.mkdir(parents=True, exist_ok=True)
    os.environ.pop("PYTHONPATH", None)
    names = [word for word in sys.argv[1:] if word != LONG]
    wanted = tuple(names) or ("",)
    choice = long_parts if LONG in sys.argv[1:] else all_parts
    parts = [part for part in choice(root, results) if part.name.startswith(wanted)]
    started = time.monotonic()
    tally = sum((run_part(part, results) for part in parts), Tally())
    if not parts:
        tally = Tally(failures=(f"no part is called {' '.join(wanted)}",))
    print(f"==> {time.monotonic() - started:.0f} s")
    for failure in tally.failures:
        print(f"FAILED  {failure}")
    print(tally.closing_line())
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
