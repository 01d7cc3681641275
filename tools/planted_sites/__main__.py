"""Judges `heapwise advise` by programs with planted call sites, and writes the table.

    PYTHONPATH=tools .venv/bin/python -m planted_sites         ten programs, ten minutes
    ... queue parser         only these
    ... --page FILE.md       writes the page from what was measured

Run it in the root of the repository, on a machine that does nothing else. Programs that the file
of results has are measured again only if they are named. The C++ library is built with
`cmake --build --preset release`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import msgspec

from heapwise.machine import read_machine
from planted_sites.measure import judge
from planted_sites.page import Results, page, rows
from planted_sites.programs import PROGRAMS


def main() -> None:
    """Each program replaces its own figures in the file."""
    options = _options()
    kept: Path = options.results
    results = msgspec.json.decode(kept.read_bytes(), type=Results) if kept.exists() else Results()
    if not options.page or options.names or not results.programs:
        _measure(results, options)
    for quantity, aim, found, met in rows(results):
        print(f"{'met   ' if met else 'missed'}  {quantity}: {found} (aim: {aim})")
    if options.page:
        options.page.write_text(page(results))


def _measure(results: Results, options: argparse.Namespace) -> None:
    machine = read_machine()
    results.machine, results.processors = f"{machine.cpu}, {machine.distribution}", machine.cores
    due = [
        program
        for program in PROGRAMS
        if (
            program.name in options.names if options.names else program.name not in results.programs
        )
    ]
    with tempfile.TemporaryDirectory(prefix="planted-sites-") as folder:
        for program in due:
            one = judge(
                program,
                Path(folder),
                rounds=options.rounds,
                pairs=options.pairs,
                arguments=[str(options.steps)] if options.steps else [],
            )
            results.programs[program.name] = one
            options.results.parent.mkdir(parents=True, exist_ok=True)
            options.results.write_bytes(msgspec.json.encode(results))
            print(
                f"{program.name}: {one.found.policy or 'nothing'} {one.found.place}, predicted "
                f"{one.found.seconds * 1e3:.1f} ms, gained {one.gained_s * 1e3:.1f} ms",
                flush=True,
            )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m planted_sites")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these programs")
    parser.add_argument("--results", type=Path, default=Path("build/planted-sites.json"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--rounds", type=int, default=20, help="of the replays")
    parser.add_argument("--pairs", type=int, default=30, help="of the program and the changed one")
    parser.add_argument("--steps", type=int, help="of each program, fewer than usual")
    return parser.parse_args()


if __name__ == "__main__":
    main()
