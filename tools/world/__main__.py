"""Makes the environments of the real programs, and writes the table of results.

    PYTHONPATH=tools:python .venv/bin/python -m world --make        environments in build/world
    ... --make pypi                                                 one of them
    ... --page docs/results/real-programs.md                        from the results of the tests

The tests in tests/world leave their results in build/world/results.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from world.environments import Environment, is_made, make
from world.page import page
from world.program import all_programs
from world.results import read_all


def main() -> int:
    options = _options()
    if options.page is not None:
        options.page.write_text(page(all_programs(), list(read_all())))
        return 0
    wanted = [Environment(name) for name in options.make] or list(Environment)
    return max([_make(each) for each in wanted if not is_made(each)], default=0)


def _make(environment: Environment) -> int:
    """1 if it could not be made: its programs are then not run."""
    print(f"==> environment of real programs: {environment.value}", flush=True)
    try:
        make(environment)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{environment.value} could not be made: {error}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m world")
    names = [each.value for each in Environment]
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--make", nargs="*", choices=names, help="of these registries; of all")
    what.add_argument("--page", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
