"""A planted effect of whole runs: the program runs more often in each process."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from workshop.planted.judged import JUDGED, PLAIN, name_of
from workshop.planted.plant import Paid, build_plant
from workshop.planted.ready import CannotPlant, Ready, children_cpu_s
from workshop.planted.truth import Truth

SOURCE = Path(__file__).with_name("again.c")

MOST_RUNS = 100
"""The largest number of runs of one process."""

MOST_OF_TIME = 1 / 15
"""A process that takes a larger part of the comparison leaves it too few pairs."""

TRIES = 3


class WholeRuns:
    """A process of 10 runs, and one of 11: what is planted is work of the program's own kind, so
    the effect is the same on a busy machine, and while the price of memory changes."""

    def __init__(self, ready: Ready, percents: Sequence[float], time_s: float) -> None:
        """time_s: of the comparison. CannotPlant if it is too short for the program."""
        self.runs = fewest_runs(percents)
        again = build_again(ready.folder)
        self.library = build_plant(ready.folder)
        self.command = [str(again), *ready.command]
        times = {PLAIN: 0.0} | {name_of(percent): percent for percent in percents}
        self.subjects = {
            name: self._variables(round(self.runs * (1 + percent / 100)))
            for name, percent in times.items()
        }
        whole_s, own_s = (self._cpu_s(ready, number) for number in (self.runs, 0))
        if whole_s > time_s * MOST_OF_TIME:
            raise CannotPlant(f"{self.runs} runs take {whole_s:.1f} s, too long for {time_s:g} s")
        self._truths = {
            percent: Truth(
                planted=percent,
                effect=percent * (1 - own_s / whole_s),
                error=0.0,
                own=0.0,
                rounds=TRIES,
            )
            for percent in percents
        }

    def truths(self) -> dict[str, dict[float, Truth]]:
        """The same in each quantity: one run more has its share of all that a process costs, but of
        the start of the program that runs it."""
        return dict.fromkeys(JUDGED, self._truths)

    def records(self) -> dict[str, list[Paid]]:
        """Nothing: what was planted needs no record."""
        return {name: [] for name in self.subjects}

    def _variables(self, runs: int) -> dict[str, str]:
        return {"AGAIN_TIMES": str(runs)}

    def _cpu_s(self, ready: Ready, runs: int) -> float:
        found = []
        for _ in range(TRIES):
            before_s = children_cpu_s()
            status = ready.run(self.command, self._variables(runs))
            if status != 0:
                raise CannotPlant(f"{runs} runs one after another end with {status}")
            found.append(children_cpu_s() - before_s)
        return median(found)


def fewest_runs(percents: Sequence[float]) -> int:
    """The fewest runs of which each of these percents is a whole number. CannotPlant above 100."""
    for runs in range(1, MOST_RUNS + 1):
        more = [runs * percent / 100 for percent in percents]
        if all(abs(each - round(each)) < 1e-9 for each in more):
            return runs
    said = ", ".join(f"{percent:g}" for percent in percents)
    raise CannotPlant(f"no number of runs up to {MOST_RUNS} has whole ones for {said} %")


def build_again(folder: Path) -> Path:
    """The program that runs another, compiled into the folder. CalledProcessError if the compiler
    fails."""
    program = folder / "again"
    subprocess.run(["cc", "-O2", str(SOURCE), "-o", str(program)], check=True)
    return program
