"""``python -m workshop``: what only this project asks of a run, in the root of the repository.

python -m workshop aims RUN [--store DIR] [--rows]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from heapwise.evidence import Evidence
from heapwise.store import find_store, read_run
from heapwise.trust import check_run
from workshop.aims import goal_line, goals, losses
from workshop.aims.goal import worst_first


def main() -> int:
    """The command. Returns the exit status: 1 if an aim is not met."""
    options = _options()
    return aims(read_evidence(options), rows=options.rows)


def read_evidence(options: argparse.Namespace) -> Evidence:
    return Evidence(read_run(find_store(options.store), options.run))


def aims(evidence: Evidence, *, rows: bool) -> int:
    """Prints the aims that the run can judge, and where our heap loses."""
    found = goals(evidence, check_run(evidence))
    for goal in found:
        print(goal_line(goal))
        for part in worst_first(goal) if rows else []:
            print(f"    {goal_line(part)}")
    for line in losses(evidence):
        print(line)
    if not found:
        print("No aim of the project is about this run.")
    return 1 if any(goal.verdict == "not met" for goal in found) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workshop")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    one = verbs.add_parser("aims", help="what the project aims at, and whether a run shows it")
    one.add_argument("run", metavar="RUN", help="its id, or a part of it")
    one.add_argument("--store", type=Path, metavar="DIR")
    one.add_argument("--rows", action="store_true", help="each row of an aim, the worst first")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
