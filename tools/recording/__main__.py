"""Measures what recording costs, part by part, and writes the table with the aims.

    PYTHONPATH=tools .venv/bin/python -m recording     every part, about an hour
    ... --only load         one part; figures of the others are kept
    ... --only start        what a program that does nothing takes longer
    ... --only limit --events 100000000 --limit 256
                            how fast a trace of that many events is read, in a minute
    ... --only turns        counts what the drain does for threads that call by turns (callgrind)
    ... --page FILE.md      writes the page; what was measured before is not measured again

Run it in the root of the repository, on a machine that does nothing else. Each program runs alone,
under `heapwise record` with and without `--profile`, under heaptrack and (Python) under memray, in
turns. memray is installed into build/recording-env, heaptrack by `tools/setup --tests`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heapwise.machine import read_machine
from other_work import other_work
from recording.measure import (
    measure_limit,
    measure_load,
    measure_programs,
    measure_start,
    measure_turns,
    scratch,
)
from recording.page import page, rows
from recording.programs import program_names
from recording.rivals import NAMES, find_rivals
from recording.run import be_interrupted_by_sigterm

PARTS = ("load", "start", "turns", "programs", "limit")


def main() -> None:
    """Each part replaces its own figures in the file."""
    options = _options()
    be_interrupted_by_sigterm()
    kept = json.loads(options.results.read_text()) if options.results.exists() else {}
    for part in _due(kept, options):
        kept.setdefault("other_work", {})[part] = other_work()
        kept |= _machine()
        with scratch() as name:
            for _ in _measured(kept, part, Path(name), options):
                options.results.parent.mkdir(parents=True, exist_ok=True)
                options.results.write_text(json.dumps(kept, indent=1))
    for quantity, aim, found, met in rows(kept):
        print(f"{'met   ' if met else 'missed'}  {quantity}: {found} (aim: {aim})")
    if options.page:
        options.page.write_text(page(kept))


def _due(kept: dict[str, Any], options: argparse.Namespace) -> list[str]:
    """The parts that were asked for. For a page, those that it lacks."""
    if options.only:
        return list(options.only)
    if not options.page:
        return list(PARTS)
    return [
        part
        for part in PARTS
        if part not in kept or (part == "programs" and _programs_due(kept, options))
    ]


def _programs_due(kept: dict[str, Any], options: argparse.Namespace) -> list[str]:
    wanted = options.program or program_names()
    if not options.page or options.only:
        return list(wanted)
    return [name for name in wanted if name not in kept.get("programs", {})]


def _measured(
    kept: dict[str, Any], part: str, folder: Path, options: argparse.Namespace
) -> Iterator[None]:
    """Each time that something was measured, so that an interrupted run keeps it."""
    if part == "load":
        kept["load"] = measure_load(folder, options.rounds)
    elif part == "start":
        # A round takes some milliseconds.
        kept["start"] = measure_start(folder, 10 * options.rounds)
    elif part == "turns":
        kept["turns"] = measure_turns(folder)
    elif part == "limit":
        kept.setdefault("limit", {}).update(measure_limit(folder, options.events, options.limit))
    else:
        rivals = find_rivals(options.without)
        for name, figures in measure_programs(
            folder, options.rounds, _programs_due(kept, options), small=options.small, rivals=rivals
        ):
            kept.setdefault("programs", {})[name] = figures
            yield
    yield


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
    parser.add_argument(
        "--without",
        choices=NAMES,
        action="append",
        default=[],
        help="another recorder that is left out",
    )
    parser.add_argument("--events", type=int, default=10**9, help="of the size limits")
    parser.add_argument("--limit", type=int, action="append", help="in MiB: 16, 64, 256")
    found = parser.parse_args()
    found.limit = found.limit or [16, 64, 256]
    return found


if __name__ == "__main__":
    main()
