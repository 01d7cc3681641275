"""Measures the servers of the recipes under all installed allocators, and writes a page.

    PYTHONPATH=tools:python .venv/bin/python -m servers --page docs/results/MACHINE/servers.md
    ... --smoke             two allocators, one round, loads of a second: a minute
    ... --recipe redis      this server alone
    ... --only-page         the newest runs in the store of this tool, without new ones
    ... --memory --idle 30  memory alone, after the load and after 30 s: other programs may run

Without --smoke each server gets the time of --minutes, 5 by default: the rounds that fit into it.
Run it in the root of the repository, on a machine that does nothing else if not for --memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from heapwise.catalog.recipes import find_recipe, recipe_names
from heapwise.evidence import Evidence
from heapwise.report import View
from heapwise.store import read_run, run_ids
from servers.page import memory_page, page

USABLE = (0, 3, 4)
"""Exit codes of a comparison with figures: also if a peer failed or the machine was not quiet."""


def main() -> int:
    options = _options()
    os.environ["HEAPWISE_STORE"] = str(options.store)
    if not options.only_page:
        for recipe in options.recipe or recipe_names():
            code = subprocess.run(_command(recipe, options), check=False).returncode
            if code not in USABLE:
                print(f"{recipe}: not measured, exit code {code}", file=sys.stderr)
    found = _newest(options.store)
    if not found:
        print("nothing was measured", file=sys.stderr)
        return 1
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(memory_page(found) if options.memory else page(found))
    return 0


def _command(recipe: str, options: argparse.Namespace) -> list[str]:
    words = [sys.executable, "-m", "heapwise", "compare", "--recipe", recipe]
    if options.smoke:
        return [
            *words,
            "--allocators",
            "glibc,jemalloc",
            "-r",
            "1",
            "--load-time",
            "1s",
            "--idle",
            "0.3s",
        ]
    if options.memory:  # A load that is given has no rates of the recipe's.
        words += ["--load", find_recipe(recipe).load]
    if options.allocators:
        words += ["--allocators", options.allocators]
    return [
        *words,
        "-r",
        str(options.rounds),
        "--load-time",
        f"{options.load_time:g}s",
        "--idle",
        f"{options.idle:g}s",
        "--time",
        f"{options.minutes}m",
    ]


def _newest(store: Path) -> dict[str, View]:
    """Recipe -> its newest run."""
    found: dict[str, View] = {}
    for name in run_ids(store):
        stored = read_run(store, name)
        server = stored.run.plan.options.server
        if server is not None and server.recipe and stored.samples:
            found[server.recipe] = View(Evidence(stored))
    return dict(sorted(found.items()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m servers")
    parser.add_argument("--page", type=Path, default=Path("build/servers.md"))
    parser.add_argument("--store", type=Path, default=Path("build/servers-store"))
    parser.add_argument("--recipe", action="append", help="this one alone; repeatable")
    parser.add_argument("--allocators", help="as of compare; all that are installed if not given")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--minutes", type=int, default=5, help="of each server")
    parser.add_argument("--load-time", type=float, default=3, help="seconds")
    parser.add_argument("--idle", type=float, default=1, help="seconds")
    parser.add_argument("--memory", action="store_true", help="and no throughput or latency")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only-page", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
