"""Measures what recording costs, part by part, and writes the table with the aims.

    PYTHONPATH=tools .venv/bin/python -m recording     every part, about 25 minutes
    ... --only load         one part; figures of the others are kept
    ... --page FILE.md      writes the page from what was measured

Run it in the root of the repository, on a machine that does nothing else. heaptrack is asked if it
is installed, memray if --memray says where.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from heapwise.machine import read_machine
from recording.measure import measure_limit, measure_load, measure_programs, scratch
from recording.page import page, rows

PARTS = ("load", "programs", "limit")


def main() -> None:
    """Each part replaces its own figures in the file."""
    options = _options()
    kept = json.loads(options.results.read_text()) if options.results.exists() else {}
    parts = [] if options.page and not options.only else options.only or PARTS
    for part in parts:
        kept.setdefault("load_average", {})[part] = round(os.getloadavg()[0], 1)
        with scratch() as name:
            folder = Path(name)
            if part == "load":
                kept["load"] = measure_load(folder, options.rounds)
            elif part == "programs":
                kept.setdefault("programs", {}).update(measure_programs(
                    folder, options.rounds, small=options.small, only=options.program,
                    memray=options.memray))
            else:
                kept.setdefault("limit", {}).update(
                    measure_limit(folder, options.events, options.limit))
        kept |= _machine()
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(kept, indent=1))
    for quantity, aim, found, met in rows(kept):
        print(f"{'met   ' if met else 'missed'}  {quantity}: {found} (aim: {aim})")
    if options.page:
        options.page.write_text(page(kept))


def _machine() -> dict[str, object]:
    found = read_machine()
    return {"machine": f"{found.cpu}, {found.distribution}", "processors": found.cores}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m recording")
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--results", type=Path, default=Path("build/recording-costs.json"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="small inputs of the programs")
    parser.add_argument("--program", action="append", default=[], help="only this one")
    parser.add_argument("--memray", type=Path, help="the Python that memray is installed in")
    parser.add_argument("--events", type=int, default=10**9, help="of the size limits")
    parser.add_argument("--limit", type=int, action="append", help="in MiB: 16, 64, 256")
    found = parser.parse_args()
    found.limit = found.limit or [16, 64, 256]
    return found


if __name__ == "__main__":
    main()
