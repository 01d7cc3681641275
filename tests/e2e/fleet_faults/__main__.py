"""Strikes one fleet run with faults of 18 kinds, counts them, looks for lost and doubled samples.

    PYTHONPATH=tests/e2e:python .venv/bin/python -m fleet_faults --page docs/results/MACHINE/FILE.md
    ... --machines 2 --faults 12 --rounds 100     a minute or two

Needs root, Debian's openssh-server and iproute2: each machine is a network namespace with an sshd,
a disk and a wall clock of its own. 300 faults on 8 machines take a quarter of an hour on two
processors.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from fleet_faults.campaign import Struck, strike_fleet
from fleet_faults.machines import why_not
from heapwise.machine import read_machine
from heapwise.wording.durations import show_duration


def main() -> int:
    options = _options()
    if reason := why_not():
        raise SystemExit(f"error: {reason}")
    with ExitStack() as left:
        folder = options.folder or left.enter_context(
            tempfile.TemporaryDirectory(prefix="heapwise-fleet-faults-")
        )
        struck = strike_fleet(
            Path(folder), options.machines, options.faults, options.rounds, options.seed
        )
    text = page(struck, options.seed)
    if options.page:
        options.page.write_text(text)
    print(text)
    return 0


def page(struck: Struck, seed: int) -> str:
    machine = read_machine()
    lines = [
        "# Faults of a fleet",
        "",
        f"{machine.cpu}, {machine.cores} cores, kernel {machine.kernel}, {machine.libc}. Made by "
        f"`python -m fleet_faults --machines {struck.machines} --faults "
        f"{sum(struck.kinds.values())} --rounds {struck.rounds} --seed {seed} --page FILE`.",
        "",
        f"One fleet run of {struck.machines} machines, {sum(struck.kinds.values())} faults, "
        f"{show_duration(struck.seconds)}. **0 samples lost, 0 doubled**: the client's store has "
        f"{struck.samples:,} samples. Each line that a machine ever had is in it, in the same "
        "order, and each step of each plan is there once.",
        "",
        f"{struck.ended_early} times the client ended before all machines were complete, and "
        "`heapwise fleet collect` went on. A measured program that was killed is stored as a "
        "process that crashed, as without a fleet.",
        "",
        "The machines are network namespaces of one kernel, each with an sshd, a disk of 48 MiB "
        "and a wall clock of its own. The faults are real; the machines do not differ. A clock "
        "jumps by ten minutes to twelve hours, forward or back, for all Python processes of a "
        "machine while they run. Times of files, and waits for a time of the wall clock, are the "
        "kernel's.",
        "",
        "| fault | times |",
        "|---|---|",
        *(f"| {kind} | {count} |" for kind, count in sorted(struck.kinds.items())),
    ]
    return "\n".join(lines) + "\n"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", type=Path)
    parser.add_argument("--folder", type=Path, help="An empty one, which is kept: client.log.")
    parser.add_argument("--machines", type=int, default=8)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=17)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
