"""Measures how a fleet run grows with its machines, and what its engine changes; writes a page.

    PYTHONPATH=tools:python .venv/bin/python -m fleet_figures --page docs/results/MACHINE/fleet.md
    ... --smoke      10 machines and two short pairs: a minute

Run it in the root of the repository, on a machine that does nothing else: seven minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fleet_figures.influence import PROGRAM, Influence, measure_influence
from fleet_figures.scale import COMPARE, COUNTS, Growth, measure_growth
from heapwise.machine import read_machine
from heapwise.wording.numbers import show

PAIRS, ROUNDS = 20, 5


def main() -> int:
    options = _options()
    growth = measure_growth((10,) if options.smoke else COUNTS)
    influence = measure_influence(2, 2) if options.smoke else measure_influence(PAIRS, ROUNDS)
    text = page(growth, influence)
    if options.page:
        options.page.write_text(text)
    else:
        print(text)
    return 0


def page(growth: list[Growth], influence: list[Influence]) -> str:
    machine = read_machine()
    lines = [
        "# Fleet", "",
        f"{machine.cpu}, {machine.cores} cores, kernel {machine.kernel}, {machine.libc}. Made by "
        "`python -m fleet_figures --page FILE`.", "",
        "## Growth with the number of machines", "",
        "The machines are threads behind a real scheduler of Dask, and each gives back the same "
        f"real run (`heapwise {' '.join(COMPARE)}`) under its own name. Client, scheduler and "
        "workers are one process here, so the memory is that of all of them. To open is a "
        "screenshot by headless Chromium, less that of an empty page.", "",
        "| machines | collected | analysed, page written | peak memory | page | opened |",
        "|---|---|---|---|---|---|",
    ]
    for row in growth:
        opened = "-" if row.open_s is None else f"{row.open_s:.2f} s"
        lines.append(f"| {row.machines:,} | {row.collect_s:.1f} s | {row.page_s:.1f} s | "
                     f"{show(row.peak_bytes, 'bytes')} | {show(row.page_bytes, 'bytes')} | "
                     f"{opened} |")
    lines += [
        "", "## Influence of the engine", "",
        f"`{' '.join(PROGRAM[:2])} ...` (240,000 strings in a hash) under glibc and heapwise: "
        "runs without a fleet and runs of a fleet of one local machine, in turn. The figure is "
        "the time under the worker over the time without it, with the 95 % interval of the mean "
        "over the pairs.", "",
        "| subject | ratio | interval |", "|---|---|---|",
    ]
    lines += [f"| {row.what} | {row.ratio:.4f} | {row.low:.4f} to {row.high:.4f} |"
              for row in influence]
    return "\n".join(lines) + "\n"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--smoke", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
