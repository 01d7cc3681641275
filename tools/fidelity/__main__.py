"""Judges replays by the real programs, and writes the table with the aims.

    PYTHONPATH=tools .venv/bin/python -m fidelity              12 programs, 6 allocators
    ... --dry-run                            says how long that takes
    ... --program perl --allocators jemalloc --rounds 5 --small
    ... --page FILE.md                       writes the page from what was measured

Run it in the root of the repository, on a machine that does nothing else. Programs that the file
of results has with the same allocators and rounds are not measured again, so an interrupted run
goes on where it was.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fidelity.measure import Wanted, broken, estimate_s, measure, measure_own, seconds_of
from fidelity.model import BASELINE, Results, load_results, save_results
from fidelity.page import page, rows
from heapwise.machine import read_machine
from heapwise.wording.durations import cost
from recording.measure import scratch
from recording.programs import real_programs

ALLOCATORS = ("heapwise", "jemalloc", "mimalloc", "tcmalloc", "tbbmalloc")


def main() -> None:
    """Each program replaces its own figures in the file."""
    options = _options()
    results = load_results(options.results)
    if not options.page or options.program or not results.programs:
        with scratch() as name:
            _measure(results, options, Path(name))
    for quantity, aim, found, met in rows(results):
        print(f"{'met   ' if met else 'missed'}  {quantity}: {found} (aim: {aim})")
    if options.page:
        options.page.write_text(page(results))


def _measure(results: Results, options: argparse.Namespace, folder: Path) -> None:
    wanted = Wanted(options.allocators.split(","), options.rounds, folder / "store")
    due = [
        program
        for program in real_programs(folder, small=options.small, only=options.program)
        if not _is_done(results, program.name, wanted)
    ]
    alone = {program.name: seconds_of(program) for program in due}
    costs = {name: estimate_s(seconds, wanted) for name, seconds in alone.items() if seconds}
    for name, seconds in costs.items():
        print(f"{name}: {cost(seconds)}")
    print(f"Together {cost(sum(costs.values()))}", flush=True)
    if options.dry_run:
        return
    found = read_machine()
    results.machine, results.processors = f"{found.cpu}, {found.distribution}", found.cores
    results.own |= measure_own(wanted, folder)
    for program in due:
        one = measure(program, wanted) if alone[program.name] else broken(wanted)
        results.programs[program.name] = one
        save_results(options.results, results)
        print(f"{program.name}: {one.refused or 'done'}", flush=True)


def _is_done(results: Results, name: str, wanted: Wanted) -> bool:
    one = results.programs.get(name)
    if one is None or one.rounds != wanted.rounds:
        return False
    have = set(one.compared.time) if one.compared else set(wanted.allocators)
    return have >= {*wanted.allocators} - {BASELINE}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fidelity")
    parser.add_argument("--results", type=Path, default=Path("build/fidelity.json"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--small", action="store_true", help="small inputs of the programs")
    parser.add_argument("--program", action="append", default=[], help="only this one")
    parser.add_argument("--allocators", default=",".join(ALLOCATORS), help="beside glibc")
    parser.add_argument("--dry-run", action="store_true", help="only say how long it takes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
