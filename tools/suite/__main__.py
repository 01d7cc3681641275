"""Runs the parts, or those whose names begin with the arguments, and closes with a count.

``--all``: also parts that passed before and have not changed since; so do names of parts.
``--long``: not the parts of every change, but those that take long.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from stale_pages import told
from suite.lanes import run_lanes
from suite.part import Part, run_part
from suite.parts import all_parts, long_parts
from suite.stamps import Stamps, run_changed
from suite.tally import Tally

ALL, LONG = "--all", "--long"

FOREIGN = ("PYTHONPATH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
"""Variables that no test may inherit. make passes its own options on in some of them, so `make -s
test` after `make test` would look like a change and run every part again."""


def main() -> int:
    root = Path.cwd()
    results = root / "build" / "test"
    results.mkdir(parents=True, exist_ok=True)
    for name in FOREIGN:
        os.environ.pop(name, None)
    # A shell ignores Ctrl-C for what it starts in the background, and tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = {word for word in sys.argv[1:] if word in (ALL, LONG)}
    names = tuple(word for word in sys.argv[1:] if word not in options)
    choice = long_parts if LONG in options else all_parts
    parts = [part for part in choice(root, results) if part.name.startswith(names or ("",))]
    stamps = Stamps(results)

    anyway = bool(options or names)

    def run(part: Part) -> Tally:
        return run_changed(part, root, stamps, lambda it: run_part(it, results), anyway=anyway)

    started = time.monotonic()
    tally = run_lanes(parts, run)
    if not parts:
        tally = Tally(failures=(f"no part is called {' '.join(names)}",))
    print(f"==> {time.monotonic() - started:.0f} s")
    for failure in tally.failures:
        print(f"FAILED  {failure}")
    if tally.unchanged:
        print("Parts that passed and have not changed were not run: tools/test --all runs them.")
    for line in told(root, results / "stale-pages.txt"):
        print(line)
    print(tally.closing_line())
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
