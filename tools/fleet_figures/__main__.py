"""Measures how a fleet run grows with its machines, and what its engine changes; writes a page.

    PYTHONPATH=tools:python .venv/bin/python -m fleet_figures --page docs/results/MACHINE/fleet.md
    ... --pairs FILE --add-pairs 170s   only pairs, kept in a file; may be given again and again
    ... --pairs FILE --page PAGE        with the pairs of that file; --only-influence: nothing else
    ... --smoke                         10 machines and half a minute of pairs

Run it in the root of the repository, on a machine that does nothing else: ten minutes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from fleet_figures.influence import Interval, add_pairs, influence_of, kept_pairs
from fleet_figures.paired import PROGRAM, Pair
from fleet_figures.scale import COMPARE, COUNTS, Growth, measure_growth
from heapwise.machine import read_machine
from heapwise.wording.durations import parse_duration
from heapwise.wording.numbers import show

PAIRS_S, SMOKE_S = 480.0, 30.0


def main() -> int:
    options = _options()
    if options.add_pairs:
        add_pairs(options.pairs, parse_duration(options.add_pairs, "--add-pairs"))
        return 0
    counts = (10,) if options.smoke else COUNTS
    growth = [] if options.only_influence else measure_growth(counts)
    text = page(growth, _pairs(options.pairs, SMOKE_S if options.smoke else PAIRS_S))
    if options.page:
        options.page.write_text(text)
    else:
        print(text)
    return 0


def _pairs(file: Path | None, seconds: float) -> list[Pair]:
    """Those of the file if there is one."""
    with tempfile.TemporaryDirectory(prefix="heapwise-fleet-figures-") as folder:
        if file is None:
            file = Path(folder) / "pairs.jsonl"
            add_pairs(file, seconds)
        return kept_pairs(file)


def page(growth: list[Growth], pairs: list[Pair]) -> str:
    machine = read_machine()
    lines = [
        "# Fleet",
        "",
        f"{machine.cpu}, {machine.cores} cores, kernel {machine.kernel}, {machine.libc}. Made by "
        "`python -m fleet_figures --page FILE`.",
        "",
        *(growth_lines(growth) if growth else []),
        "## Influence of the engine",
        "",
        *influence_lines(pairs),
    ]
    return "\n".join(lines) + "\n"


def growth_lines(growth: list[Growth]) -> list[str]:
    lines = [
        "## Growth with the number of machines",
        "",
        "The machines are threads behind a real scheduler of Dask, and each gives back the same "
        f"real run (`heapwise {' '.join(COMPARE)}`) under its own name. Client, scheduler and "
        "workers are one process here, so the memory is that of all of them. To open is a "
        "screenshot by headless Chromium, less that of an empty page.",
        "",
        "| machines | collected | analysed, page written | peak memory | page | opened |",
        "|---|---|---|---|---|---|",
    ]
    for row in growth:
        opened = "-" if row.open_s is None else f"{row.open_s:.2f} s"
        lines.append(
            f"| {row.machines:,} | {row.collect_s:.1f} s | {row.page_s:.1f} s | "
            f"{show(row.peak_bytes, 'bytes')} | {show(row.page_bytes, 'bytes')} | "
            f"{opened} |"
        )
    return [*lines, ""]


def influence_lines(pairs: list[Pair]) -> list[str]:
    differing = sorted({name for pair in pairs for name in pair.differing})
    faults = statistics.fmean(p.worker.minor_faults - p.alone.minor_faults for p in pairs)
    return [
        f"`{' '.join(PROGRAM[:2])} ...` (480,000 strings in a hash) under glibc and heapwise. The "
        "same plan runs without a fleet and under a worker of one local machine at once, and "
        "each sample is taken on both sides before the next one. While one without a fleet is "
        "taken, client, scheduler and worker are stopped (SIGSTOP); what they then catch up with "
        "falls in the next sample under the worker. The figure is the one under the worker over "
        "the one without it, with a 95 % interval. Below 1 means that the worker's was shorter. "
        '"Trimmed" leaves out the fifth of the pairs at each end, with Yuen\'s interval: other '
        "users of the machine disturb some pairs by a tenth and more, in either direction.",
        "",
        "| figure | pairs | trimmed mean | interval | mean | interval |",
        "|---|---|---|---|---|---|",
        *(
            f"| {row.what} | {row.pairs} | {_cells(row.trimmed)} | {_cells(row.mean)} |"
            for row in influence_of(pairs)
        ),
        "",
        f"Page faults of the program under the worker, less those without it: {faults:+.1f} in "
        f"the mean. The processes inherit the same in each pair, except for "
        f"{', '.join(differing) or 'nothing'}: environment, limits, umask, user and groups, "
        "capabilities, seccomp, processors and memory nodes, blocked and ignored signals, "
        "niceness and scheduling policy, control group, namespaces, personality, timer slack, "
        "OOM score, open descriptors, working directory. Names of temporary files and inodes "
        "in the environment are not compared.",
    ]


def _cells(interval: Interval) -> str:
    return f"{interval.ratio:.4f} | {interval.low:.4f} to {interval.high:.4f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--add-pairs", metavar="DURATION")
    parser.add_argument("--only-influence", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.add_pairs and not options.pairs:
        parser.error("--add-pairs needs --pairs")
    return options


if __name__ == "__main__":
    sys.exit(main())
